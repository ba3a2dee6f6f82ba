package org.cloister.luks.volume;

import jnr.ffi.Runtime;
import jnr.ffi.Struct;

/** {@code struct crypt_active_device} of libcryptsetup.h; offsets and size in sectors of 512 bytes. */
public final class CryptActiveDevice extends Struct {
    final u_int64_t offset = new u_int64_t();
    final u_int64_t ivOffset = new u_int64_t();
    final u_int64_t size = new u_int64_t();
    final u_int32_t flags = new u_int32_t();

    CryptActiveDevice(Runtime runtime) {
        super(runtime);
    }
}
