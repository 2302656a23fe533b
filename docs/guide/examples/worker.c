/*
 * A Corvo worker in C with libcurl. It reads the few members it needs by hand; a real worker would
 * use a JSON library.
 *
 *   cc worker.c -lcurl -o worker && CORVO_URL=http://localhost:8080 ./worker emails [--once]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

struct answer {
    char text[65536];
    size_t len;
};

static size_t receive(char *data, size_t size, size_t count, void *out)
{
    struct answer *a = out;
    size_t n = size * count;
    if (n > sizeof a->text - 1 - a->len) {
        return 0; /* larger than we can hold: the transfer fails */
    }
    memcpy(a->text + a->len, data, n);
    a->len += n;
    a->text[a->len] = '\0';
    return n;
}

/* POST; 1 when the status is a success. */
static int call(CURL *curl, const char *path, const char *body, struct answer *out)
{
    const char *base = getenv("CORVO_URL");
    char url[1024];
    long status = 0;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    snprintf(url, sizeof url, "%s/api/v1%s", base != NULL ? base : "http://localhost:8080", path);
    memset(out, 0, sizeof *out);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    return code == CURLE_OK && status >= 200 && status < 300;
}

/* The text behind "name":, up to the next comma or brace, without quotes. */
static int member(const char *json, const char *name, char *out, size_t size)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(json, key);
    if (at == NULL) {
        return 0;
    }
    at += strlen(key) + (at[strlen(key)] == '"' ? 1 : 0);
    size_t n = strcspn(at, "\",}");
    snprintf(out, size, "%.*s", (int)n, at);
    return 1;
}

int main(int argc, char **argv)
{
    static struct answer answer;
    char body[512];
    char path[128];
    char id[64];
    char token[32];
    CURL *curl = curl_easy_init();
    if (curl == NULL || argc < 2) {
        fprintf(stderr, "usage: worker QUEUE [--once]\n");
        return 1;
    }
    for (;;) {
        snprintf(body, sizeof body, "{\"queues\":[\"%s\"],\"worker_id\":\"c-%ld\",\"timeout\":30}",
                 argv[1], (long)getpid());
        if (!call(curl, "/fetch", body, &answer)) {
            fprintf(stderr, "fetch failed, trying again: %s\n", answer.text);
            sleep(1);
            continue;
        }
        if (!member(answer.text, "job_id", id, sizeof id) || id[0] == '\0' ||
            !member(answer.text, "lease_token", token, sizeof token)) {
            continue; /* nothing to do yet */
        }
        /* Your code goes here; report a failure with /fail/ID and {"error": "..."}. */
        snprintf(path, sizeof path, "/ack/%s", id);
        snprintf(body, sizeof body, "{\"result\":{\"done\":true},\"lease_token\":%s}", token);
        if (!call(curl, path, body, &answer)) {
            fprintf(stderr, "ack failed: %s\n", answer.text);
        }
        if (argc > 2 && strcmp(argv[2], "--once") == 0) {
            break;
        }
    }
    curl_easy_cleanup(curl);
    return 0;
}
