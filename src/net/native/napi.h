// The part of Node-API that addon.c uses. Node promises this binary interface to stay, so that no headers of a certain Node are needed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);
// 0 is success.
typedef int napi_status;

napi_status napi_create_function(napi_env env, const char *name, size_t length, napi_callback call, void *data, napi_value *result);
napi_status napi_create_object(napi_env env, napi_value *result);
napi_status napi_create_array(napi_env env, napi_value *result);
napi_status napi_create_int32(napi_env env, int32_t value, napi_value *result);
napi_status napi_create_string_utf8(napi_env env, const char *text, size_t length, napi_value *result);
napi_status napi_set_named_property(napi_env env, napi_value object, const char *name, napi_value value);
napi_status napi_set_element(napi_env env, napi_value object, uint32_t index, napi_value value);
napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t *count, napi_value *values, napi_value *self, void **data);
napi_status napi_get_value_uint32(napi_env env, napi_value value, uint32_t *result);
napi_status napi_get_value_string_utf8(napi_env env, napi_value value, char *text, size_t size, size_t *length);
// `type` is an enumeration, which the interface passes as an int.
napi_status napi_get_typedarray_info(
    napi_env env, napi_value array, int *type, size_t *length, void **data, napi_value *buffer, size_t *offset);
napi_status napi_throw_error(napi_env env, const char *code, const char *message);
napi_status napi_add_env_cleanup_hook(napi_env env, void (*call)(void *data), void *data);
