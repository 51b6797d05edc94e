-- Strings, tables, sorting and recursion: what an interpreter spends its time with.
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local function words(count)
	local made, state = {}, 42
	for i = 1, count do
		state = (state * 1103515245 + 12345) % 2147483648
		made[i] = string.format("%x-%d", state, i % 17)
	end
	return made
end
local function counted(list)
	local seen = {}
	for _, word in ipairs(list) do
		for part in word:gmatch("[^-]+") do seen[part] = (seen[part] or 0) + 1 end
	end
	return seen
end
local list = words(120000)
local seen = counted(list)
table.sort(list)
table.sort(list, function(a, b) return #a < #b or (#a == #b and a > b) end)
local text = table.concat(list, " "):gsub("a(%d)", "%1b"):upper()
local sum = 0
for key, value in pairs(seen) do sum = sum + #key * value end
print(fib(25), #text, sum)
