/*
 * Runs a fuzz target over saved inputs, as a plain test: each file of the folders on the command
 * line. Crashes that the fuzzer once found are thereby checked by every test run.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        return;
    }
    static uint8_t data[1 << 20];
    size_t n = fread(data, 1, sizeof data, f);
    (void)fclose(f);
    /* The input is copied to an allocation of the exact size, so that reads past the end are found.
     */
    uint8_t *copy = malloc(n == 0 ? 1 : n);
    if (copy == NULL) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        copy[i] = data[i];
    }
    (void)LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (dir == NULL) {
            (void)fprintf(stderr, "no corpus folder %s\n", argv[i]);
            return 1;
        }
        for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
            char path[4096];
            int n = snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (e->d_name[0] != '.' && n > 0 && (size_t)n < sizeof path) {
                replay(path);
                count++;
            }
        }
        (void)closedir(dir);
    }
    printf("replayed %u inputs\n", count);
    return count > 0 ? 0 : 1;
}
