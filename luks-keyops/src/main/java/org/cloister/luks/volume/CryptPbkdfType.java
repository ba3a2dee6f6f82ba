package org.cloister.luks.volume;

import jnr.ffi.Runtime;
import jnr.ffi.Struct;

/** {@code struct crypt_pbkdf_type} of libcryptsetup.h. */
public final class CryptPbkdfType extends Struct {
    final UTF8StringRef type = new UTF8StringRef();
    final UTF8StringRef hash = new UTF8StringRef();
    final u_int32_t timeMs = new u_int32_t();
    final u_int32_t iterations = new u_int32_t();
    final u_int32_t maxMemoryKb = new u_int32_t();
    final u_int32_t parallelThreads = new u_int32_t();
    final u_int32_t flags = new u_int32_t();

    CryptPbkdfType(Runtime runtime) {
        super(runtime);
    }
}
