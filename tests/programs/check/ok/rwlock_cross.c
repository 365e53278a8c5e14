// Users and groups each have a read/write lock. Joining a group reads the user and changes the group; renaming
// changes the user and reads the groups. Both lock the users first.
//@ none
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t users_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t groups_lock = PTHREAD_RWLOCK_INITIALIZER;
static int user_name = 1;
static int members;

static void *join_group(void *arg) {
    pthread_rwlock_rdlock(&users_lock);
    pthread_rwlock_wrlock(&groups_lock);
    members += user_name > 0;
    pthread_rwlock_unlock(&groups_lock);
    pthread_rwlock_unlock(&users_lock);
    return arg;
}

static void *rename_user(void *arg) {
    pthread_rwlock_wrlock(&users_lock);
    pthread_rwlock_rdlock(&groups_lock);
    user_name = 2 + members;
    pthread_rwlock_unlock(&groups_lock);
    pthread_rwlock_unlock(&users_lock);
    return arg;
}

int main(void) {
    pthread_t joiner, renamer;
    pthread_create(&joiner, NULL, join_group, NULL);
    pthread_create(&renamer, NULL, rename_user, NULL);
    pthread_join(joiner, NULL);
    pthread_join(renamer, NULL);
    assert(members == 1 && user_name >= 2);
    return 0;
}
