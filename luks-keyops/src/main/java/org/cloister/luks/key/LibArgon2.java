package org.cloister.luks.key;

import jnr.ffi.Pointer;
import jnr.ffi.types.size_t;
import jnr.ffi.types.u_int32_t;

/**
 * The functions of libargon2.so.1 that this package calls, named as in argon2.h. Public only because jnr-ffi implements
 * it from another class loader.
 */
public interface LibArgon2 {
    int argon2id_hash_raw(
            @u_int32_t int passes,
            @u_int32_t int kibibytes,
            @u_int32_t int lanes,
            Pointer password,
            @size_t long passwordLength,
            Pointer salt,
            @size_t long saltLength,
            Pointer hash,
            @size_t long hashLength);

    String argon2_error_message(int code);
}
