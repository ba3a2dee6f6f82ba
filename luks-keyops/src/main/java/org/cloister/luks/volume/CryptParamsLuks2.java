package org.cloister.luks.volume;

import jnr.ffi.Runtime;
import jnr.ffi.Struct;

/** {@code struct crypt_params_luks2} of libcryptsetup.h. */
public final class CryptParamsLuks2 extends Struct {
    final Pointer pbkdf = new Pointer();
    final UTF8StringRef integrity = new UTF8StringRef();
    final Pointer integrityParams = new Pointer();
    final size_t dataAlignment = new size_t();
    final UTF8StringRef dataDevice = new UTF8StringRef();
    final u_int32_t sectorSize = new u_int32_t();
    final UTF8StringRef label = new UTF8StringRef();
    final UTF8StringRef subsystem = new UTF8StringRef();

    CryptParamsLuks2(Runtime runtime) {
        super(runtime);
    }
}
