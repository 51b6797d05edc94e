static inline void twice(int i)
{
	sum += 2 * i; // [2Jevil
}
