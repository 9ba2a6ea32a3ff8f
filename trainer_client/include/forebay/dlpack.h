/* dlpack.h - the tensor exchange structures of DLPack 1.1.
 *
 * SPDX-License-Identifier: Apache-2.0
 * The layout of these structures is the DLPack ABI, defined by the DLPack
 * project (Copyright its contributors, licensed under the Apache License,
 * Version 2.0: http://www.apache.org/licenses/LICENSE-2.0). Names and order
 * are those of the ABI, so that any consumer can take the tensors; the comments
 * are Forebay's. A program with its own dlpack.h includes that one first. */
/* The names are those of the ABI. NOLINTBEGIN */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stdint.h>

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* A consumer must refuse another major version. A minor one only adds types. */
typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

/* The kinds of memory that Forebay uses; DLPack has more. */
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 } DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    int32_t      device_id; /* 0 for host memory */
} DLDevice;

typedef enum {
    kDLInt    = 0U,
    kDLUInt   = 1U,
    kDLFloat  = 2U,
    kDLBfloat = 4U,
    kDLBool   = 6U
} DLDataTypeCode;

typedef struct {
    uint8_t  code;  /* DLDataTypeCode */
    uint8_t  bits;  /* of one lane */
    uint16_t lanes; /* values in an element: 1, or more for a vector type */
} DLDataType;

/* A view of memory that it does not own. */
typedef struct {
    void      *data;
    DLDevice   device;
    int32_t    ndim; /* number of dimensions */
    DLDataType dtype;
    int64_t   *shape;   /* ndim sizes, in elements */
    int64_t   *strides; /* ndim steps, in elements; NULL: row-major, no gaps */
    uint64_t   byte_offset; /* from data to the first element */
} DLTensor;

/* The structure before DLPack 1.0; its Python capsule is named "dltensor". */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void    *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

/* The structure since DLPack 1.0; its Python capsule is named
 * "dltensor_versioned". The version comes first, so that a consumer can read
 * and refuse it without knowing the other members. */
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void         *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

#ifdef __cplusplus
}
#endif

#endif
/* NOLINTEND */
