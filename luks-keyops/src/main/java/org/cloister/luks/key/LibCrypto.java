package org.cloister.luks.key;

import jnr.ffi.Pointer;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.byref.IntByReference;
import jnr.ffi.byref.NativeLongByReference;
import jnr.ffi.byref.PointerByReference;
import jnr.ffi.types.size_t;
import jnr.ffi.types.u_int64_t;
import org.jspecify.annotations.Nullable;

/**
 * The functions of libcrypto.so.3 that this package calls, named as in openssl/crypto.h, err.h, bn.h, ec.h, evp.h,
 * x509.h and kdf.h. Secrets are passed as pointers. Public only because jnr-ffi implements it from another class
 * loader.
 */
public interface LibCrypto {
    @u_int64_t
    long OpenSSL_version_num();

    int CRYPTO_secure_malloc_init(@size_t long size, @size_t long smallest);

    int CRYPTO_secure_malloc_initialized();

    @u_int64_t
    long ERR_get_error();

    void ERR_clear_error();

    void ERR_error_string_n(@u_int64_t long error, Pointer text, @size_t long room);

    int OPENSSL_buf2hexstr_ex(
            Pointer text,
            @size_t long room,
            @Nullable NativeLongByReference length,
            Pointer bytes,
            @size_t long count,
            byte separator);

    int OPENSSL_hexstr2buf_ex(
            Pointer bytes, @size_t long room, @Out NativeLongByReference count, Pointer text, byte separator);

    @Nullable
    Pointer BN_secure_new();

    @Nullable
    Pointer BN_bin2bn(Pointer bytes, int length, Pointer number);

    int BN_bn2lebinpad(Pointer number, Pointer bytes, int length);

    int BN_is_zero(Pointer number);

    int BN_cmp(Pointer one, Pointer other);

    void BN_clear_free(Pointer number);

    @Nullable
    Pointer BN_CTX_secure_new();

    void BN_CTX_free(Pointer context);

    int OBJ_txt2nid(CharSequence name);

    @Nullable
    Pointer EC_GROUP_new_by_curve_name(int nid);

    void EC_GROUP_free(Pointer group);

    Pointer EC_GROUP_get0_order(Pointer group);

    @Nullable
    Pointer EC_POINT_new(Pointer group);

    void EC_POINT_clear_free(Pointer point);

    int EC_POINT_mul(
            Pointer group,
            Pointer result,
            @Nullable Pointer factor,
            @Nullable Pointer point,
            @Nullable Pointer pointFactor,
            Pointer context);

    @size_t
    long EC_POINT_point2oct(
            Pointer group, Pointer point, int form, @Out byte[] octets, @size_t long length, Pointer context);

    @Nullable
    Pointer EVP_PKEY_CTX_new_from_name(@Nullable Pointer library, CharSequence name, @Nullable Pointer properties);

    @Nullable
    Pointer EVP_PKEY_CTX_new_from_pkey(@Nullable Pointer library, Pointer key, @Nullable Pointer properties);

    void EVP_PKEY_CTX_free(Pointer context);

    int EVP_PKEY_fromdata_init(Pointer context);

    int EVP_PKEY_fromdata(Pointer context, PointerByReference key, int selection, Pointer parameters);

    void EVP_PKEY_free(Pointer key);

    int EVP_PKEY_derive_init(Pointer context);

    int EVP_PKEY_derive_set_peer(Pointer context, Pointer peer);

    int EVP_PKEY_derive(Pointer context, Pointer secret, NativeLongByReference length);

    int EVP_PKEY_keygen_init(Pointer context);

    int EVP_PKEY_CTX_set_group_name(Pointer context, CharSequence name);

    int EVP_PKEY_generate(Pointer context, PointerByReference key);

    int EVP_PKEY_get_octet_string_param(
            Pointer key, CharSequence name, @Out byte[] octets, @size_t long room, @Out NativeLongByReference length);

    @Nullable
    Pointer EVP_PKEY2PKCS8(Pointer key);

    int i2d_PKCS8_PRIV_KEY_INFO(Pointer pkcs8, @Nullable PointerByReference der);

    void PKCS8_PRIV_KEY_INFO_free(Pointer pkcs8);

    @Nullable
    Pointer EVP_MD_CTX_new();

    void EVP_MD_CTX_free(Pointer context);

    int EVP_DigestSignInit_ex(
            Pointer context,
            @Nullable Pointer keyContext,
            CharSequence digest,
            @Nullable Pointer library,
            @Nullable Pointer properties,
            Pointer key,
            @Nullable Pointer parameters);

    int EVP_DigestSign(
            Pointer context,
            @Out byte[] signature,
            NativeLongByReference length,
            @In byte[] message,
            @size_t long count);

    int EVP_DigestVerifyInit_ex(
            Pointer context,
            @Nullable Pointer keyContext,
            CharSequence digest,
            @Nullable Pointer library,
            @Nullable Pointer properties,
            Pointer key,
            @Nullable Pointer parameters);

    int EVP_DigestVerify(
            Pointer context, @In byte[] signature, @size_t long length, @In byte[] message, @size_t long count);

    @Nullable
    Pointer EVP_KDF_fetch(@Nullable Pointer library, CharSequence name, @Nullable Pointer properties);

    void EVP_KDF_free(Pointer kdf);

    @Nullable
    Pointer EVP_KDF_CTX_new(Pointer kdf);

    void EVP_KDF_CTX_free(Pointer context);

    int EVP_KDF_derive(Pointer context, Pointer key, @size_t long length, Pointer parameters);

    Pointer EVP_sha384();

    int EVP_Digest(
            Pointer data,
            @size_t long length,
            Pointer digest,
            @Nullable Pointer size,
            Pointer type,
            @Nullable Pointer engine);

    Pointer EVP_aes_128_gcm();

    Pointer EVP_aes_256_gcm();

    @Nullable
    Pointer EVP_CIPHER_CTX_new();

    void EVP_CIPHER_CTX_free(Pointer context);

    int EVP_CIPHER_CTX_ctrl(Pointer context, int type, int argument, Pointer value);

    int EVP_EncryptInit_ex(Pointer context, Pointer cipher, @Nullable Pointer engine, Pointer key, Pointer nonce);

    int EVP_EncryptUpdate(Pointer context, @Nullable Pointer out, @Out IntByReference written, Pointer in, int length);

    int EVP_EncryptFinal_ex(Pointer context, Pointer out, @Out IntByReference written);

    int EVP_DecryptInit_ex(Pointer context, Pointer cipher, @Nullable Pointer engine, Pointer key, Pointer nonce);

    int EVP_DecryptUpdate(Pointer context, @Nullable Pointer out, @Out IntByReference written, Pointer in, int length);

    int EVP_DecryptFinal_ex(Pointer context, Pointer out, @Out IntByReference written);
}
