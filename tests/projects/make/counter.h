#ifdef __cplusplus
extern "C" {
#endif
int counter_add(int amount);
int store_add(int amount);
int step(void);
int throws(int value);
#ifdef __cplusplus
}
#endif
