#include "inlined.h"

static void work(void)
{
	for (int i = 0; i < 10; i++)
		twice(i);
}

int main(void)
{
	work();	/* a tab, and a control: */
	work();
}
