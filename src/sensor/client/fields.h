/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_CLIENT_FIELDS_H
#define SENSOR_CLIENT_FIELDS_H

/* Per type of fields: what a member is, an argument, how the one becomes the other, and the word of catalogs. */
#define ASTERISM_SENSOR_NUMBER(to, from) to = from;
#define ASTERISM_SENSOR_TRUTH(to, from)  to = from != 0;
#define ASTERISM_SENSOR_ADDR(to, from)   to = (uint64_t)(uintptr_t)from;
#define ASTERISM_SENSOR_TEXT(to, from)   asterism_sensor_copy(to, sizeof to, from);

#define ASTERISM_SENSOR_MEMBER_u8(name)      uint8_t name;
#define ASTERISM_SENSOR_MEMBER_u16(name)     uint16_t name;
#define ASTERISM_SENSOR_MEMBER_u32(name)     uint32_t name;
#define ASTERISM_SENSOR_MEMBER_u64(name)     uint64_t name;
#define ASTERISM_SENSOR_MEMBER_i8(name)      int8_t name;
#define ASTERISM_SENSOR_MEMBER_i16(name)     int16_t name;
#define ASTERISM_SENSOR_MEMBER_i32(name)     int32_t name;
#define ASTERISM_SENSOR_MEMBER_i64(name)     int64_t name;
#define ASTERISM_SENSOR_MEMBER_f64(name)     double name;
#define ASTERISM_SENSOR_MEMBER_boolean(name) uint8_t name;
#define ASTERISM_SENSOR_MEMBER_time(name)    int64_t name;
#define ASTERISM_SENSOR_MEMBER_addr(name)    uint64_t name;
#define ASTERISM_SENSOR_MEMBER_text8(name)   char name[8];
#define ASTERISM_SENSOR_MEMBER_text16(name)  char name[16];
#define ASTERISM_SENSOR_MEMBER_text32(name)  char name[32];
#define ASTERISM_SENSOR_MEMBER_text64(name)  char name[64];
#define ASTERISM_SENSOR_MEMBER_text128(name) char name[128];
#define ASTERISM_SENSOR_MEMBER_text256(name) char name[256];

#define ASTERISM_SENSOR_TAKE_u8      uint8_t
#define ASTERISM_SENSOR_TAKE_u16     uint16_t
#define ASTERISM_SENSOR_TAKE_u32     uint32_t
#define ASTERISM_SENSOR_TAKE_u64     uint64_t
#define ASTERISM_SENSOR_TAKE_i8      int8_t
#define ASTERISM_SENSOR_TAKE_i16     int16_t
#define ASTERISM_SENSOR_TAKE_i32     int32_t
#define ASTERISM_SENSOR_TAKE_i64     int64_t
#define ASTERISM_SENSOR_TAKE_f64     double
#define ASTERISM_SENSOR_TAKE_boolean int
#define ASTERISM_SENSOR_TAKE_time    int64_t
#define ASTERISM_SENSOR_TAKE_addr    const void *
#define ASTERISM_SENSOR_TAKE_text8   const char *
#define ASTERISM_SENSOR_TAKE_text16  const char *
#define ASTERISM_SENSOR_TAKE_text32  const char *
#define ASTERISM_SENSOR_TAKE_text64  const char *
#define ASTERISM_SENSOR_TAKE_text128 const char *
#define ASTERISM_SENSOR_TAKE_text256 const char *

#define ASTERISM_SENSOR_SET_u8      ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_u16     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_u32     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_u64     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_i8      ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_i16     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_i32     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_i64     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_f64     ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_boolean ASTERISM_SENSOR_TRUTH
#define ASTERISM_SENSOR_SET_time    ASTERISM_SENSOR_NUMBER
#define ASTERISM_SENSOR_SET_addr    ASTERISM_SENSOR_ADDR
#define ASTERISM_SENSOR_SET_text8   ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text16  ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text32  ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text64  ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text128 ASTERISM_SENSOR_TEXT
#define ASTERISM_SENSOR_SET_text256 ASTERISM_SENSOR_TEXT

#define ASTERISM_SENSOR_WORD_u8      "u8"
#define ASTERISM_SENSOR_WORD_u16     "u16"
#define ASTERISM_SENSOR_WORD_u32     "u32"
#define ASTERISM_SENSOR_WORD_u64     "u64"
#define ASTERISM_SENSOR_WORD_i8      "i8"
#define ASTERISM_SENSOR_WORD_i16     "i16"
#define ASTERISM_SENSOR_WORD_i32     "i32"
#define ASTERISM_SENSOR_WORD_i64     "i64"
#define ASTERISM_SENSOR_WORD_f64     "f64"
#define ASTERISM_SENSOR_WORD_boolean "bool"
#define ASTERISM_SENSOR_WORD_time    "time"
#define ASTERISM_SENSOR_WORD_addr    "addr"
#define ASTERISM_SENSOR_WORD_text8   "string[8]"
#define ASTERISM_SENSOR_WORD_text16  "string[16]"
#define ASTERISM_SENSOR_WORD_text32  "string[32]"
#define ASTERISM_SENSOR_WORD_text64  "string[64]"
#define ASTERISM_SENSOR_WORD_text128 "string[128]"
#define ASTERISM_SENSOR_WORD_text256 "string[256]"

#endif
