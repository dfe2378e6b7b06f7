/* Visibility and linkage of the public symbols. Every public header that declares functions includes it. Among the
 * public headers, only this one and plugin.h name compiler attributes. */
#ifndef ND4C_EXPORT_H
#define ND4C_EXPORT_H

#ifdef __cplusplus
#define ND4C_EXTERN_C_BEGIN extern "C" {
#define ND4C_EXTERN_C_END }
#else
#define ND4C_EXTERN_C_BEGIN
#define ND4C_EXTERN_C_END
#endif

#if defined(_WIN32)
#if defined(ND4C_BUILDING)
#define ND4C_API __declspec(dllexport)
#else
#define ND4C_API __declspec(dllimport)
#endif
#else
#define ND4C_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
#define ND4C_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define ND4C_PRINTF(format_index, first_argument)
#endif

#endif
