#The name under which the reference's rules ask for these events.
EVENTS "wmk.events"
