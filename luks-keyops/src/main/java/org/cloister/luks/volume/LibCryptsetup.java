package org.cloister.luks.volume;

import jnr.ffi.Pointer;
import jnr.ffi.annotations.Delegate;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.byref.NativeLongByReference;
import jnr.ffi.byref.PointerByReference;
import jnr.ffi.types.size_t;
import jnr.ffi.types.u_int32_t;
import jnr.ffi.types.u_int64_t;
import org.jspecify.annotations.Nullable;

/**
 * The functions of libcryptsetup.so.12 that this package calls, with names, values and order of libcryptsetup.h;
 * results below zero are -errno. Public only because jnr-ffi implements it from another class loader: use
 * {@link Cryptsetup}.
 */
public interface LibCryptsetup {
    int CRYPT_LOG_ERROR = 1;
    int CRYPT_DEBUG_NONE = 0;
    String CRYPT_LUKS2 = "LUKS2";
    String CRYPT_KDF_PBKDF2 = "pbkdf2";
    String CRYPT_KDF_ARGON2ID = "argon2id";
    int CRYPT_PBKDF_NO_BENCHMARK = 1 << 1;
    int CRYPT_ANY_SLOT = -1;
    int CRYPT_ANY_TOKEN = -1;
    int CRYPT_ACTIVATE_READONLY = 1;
    int CRYPT_ACTIVATE_ALLOW_DISCARDS = 1 << 3;
    int CRYPT_ACTIVATE_PRIVATE = 1 << 4;
    int CRYPT_ACTIVATE_NO_JOURNAL = 1 << 12;

    /** Values of crypt_status_info; 0, CRYPT_INVALID, means that device-mapper did not answer. */
    int CRYPT_INACTIVE = 1;

    int CRYPT_ACTIVE = 2;

    int CRYPT_BUSY = 3;

    /** Value of crypt_keyslot_info. */
    int CRYPT_SLOT_ACTIVE = 2;

    /** Values of crypt_token_info. */
    int CRYPT_TOKEN_INACTIVE = 1;

    int crypt_init(@Out PointerByReference cd, CharSequence device);

    int crypt_init_data_device(@Out PointerByReference cd, CharSequence device, CharSequence dataDevice);

    int crypt_init_by_name(@Out PointerByReference cd, CharSequence name);

    void crypt_free(Pointer cd);

    void crypt_set_log_callback(@Nullable Pointer cd, LogCallback log, @Nullable Pointer usrptr);

    int crypt_set_pbkdf_type(Pointer cd, @In CryptPbkdfType pbkdf);

    int crypt_format(
            Pointer cd,
            CharSequence type,
            CharSequence cipher,
            CharSequence cipherMode,
            @Nullable CharSequence uuid,
            @In Pointer volumeKey,
            @size_t long volumeKeySize,
            @In CryptParamsLuks2 params);

    int crypt_set_label(Pointer cd, CharSequence label, CharSequence subsystem);

    @Nullable
    String crypt_get_label(Pointer cd);

    @Nullable
    String crypt_get_subsystem(Pointer cd);

    int crypt_load(Pointer cd, CharSequence requestedType, @Nullable Pointer params);

    int crypt_keyslot_add_by_passphrase(
            Pointer cd,
            int keyslot,
            @In Pointer passphrase,
            @size_t long passphraseSize,
            @In Pointer newPassphrase,
            @size_t long newPassphraseSize);

    int crypt_keyslot_add_by_volume_key(
            Pointer cd,
            int keyslot,
            @In Pointer volumeKey,
            @size_t long volumeKeySize,
            @In Pointer passphrase,
            @size_t long passphraseSize);

    int crypt_keyslot_destroy(Pointer cd, int keyslot);

    int crypt_get_active_device(@Nullable Pointer cd, CharSequence name, @Out CryptActiveDevice cad);

    int crypt_activate_by_passphrase(
            Pointer cd,
            @Nullable CharSequence name,
            int keyslot,
            @In Pointer passphrase,
            @size_t long passphraseSize,
            @u_int32_t int flags);

    int crypt_activate_by_volume_key(
            Pointer cd,
            @Nullable CharSequence name,
            @In Pointer volumeKey,
            @size_t long volumeKeySize,
            @u_int32_t int flags);

    int crypt_deactivate_by_name(@Nullable Pointer cd, CharSequence name, @u_int32_t int flags);

    int crypt_volume_key_verify(Pointer cd, @In Pointer volumeKey, @size_t long volumeKeySize);

    int crypt_status(@Nullable Pointer cd, CharSequence name);

    @Nullable
    String crypt_get_cipher(Pointer cd);

    @Nullable
    String crypt_get_cipher_mode(Pointer cd);

    @Nullable
    String crypt_get_uuid(Pointer cd);

    @Nullable
    String crypt_get_device_name(Pointer cd);

    int crypt_get_volume_key_size(Pointer cd);

    int crypt_get_sector_size(Pointer cd);

    int crypt_set_data_offset(Pointer cd, @u_int64_t long dataOffset);

    /** Available from 2.4 on. The text belongs to the context and is valid until the next call. */
    int crypt_dump_json(Pointer cd, @Out PointerByReference json, @u_int32_t int flags);

    int crypt_set_metadata_size(Pointer cd, @u_int64_t long metadataSize, @u_int64_t long keyslotsSize);

    int crypt_get_metadata_size(
            Pointer cd, @Out NativeLongByReference metadataSize, @Out NativeLongByReference keyslotsSize);

    int crypt_keyslot_status(Pointer cd, int keyslot);

    int crypt_keyslot_max(CharSequence type);

    void crypt_set_debug_level(int level);

    int crypt_token_max(CharSequence type);

    int crypt_token_json_get(Pointer cd, int token, @Out PointerByReference json);

    int crypt_token_json_set(Pointer cd, int token, @Nullable CharSequence json);

    int crypt_token_status(Pointer cd, int token, @Nullable Pointer type);

    /**
     * {@code void (*log)(int level, const char *msg, void *usrptr)}; the caller that registers one keeps it reachable.
     */
    interface LogCallback {
        @Delegate
        void log(int level, String message, Pointer usrptr);
    }
}
