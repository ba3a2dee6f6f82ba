package org.cloister.luks.volume;

import static org.cloister.luks.volume.LibCryptsetup.CRYPT_ANY_SLOT;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_LUKS2;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_SLOT_ACTIVE;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import jnr.ffi.Pointer;
import jnr.ffi.byref.NativeLongByReference;
import jnr.ffi.byref.PointerByReference;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.VolumeException.Fault;
import org.jspecify.annotations.Nullable;

/**
 * A LUKS2 header that was read. Closing it frees the header; a mapping made from it stays. If another process has
 * changed the header since, libcryptsetup refuses the next change.
 */
public final class LuksVolume implements AutoCloseable {
    private static final int SECTOR = 512;

    private final CryptsetupLibrary library;
    private final LibCryptsetup lib;
    private final Path device;
    private final VolumeIntegrity integrity;
    private @Nullable Pointer context;

    /** @param integrity that the volume must have */
    LuksVolume(CryptsetupLibrary library, Path device, Pointer context, VolumeIntegrity integrity) {
        this.library = library;
        this.lib = library.lib();
        this.device = device;
        this.integrity = integrity;
        this.context = context;
    }

    /** Options for mapping a volume. */
    public enum Option {
        READ_ONLY(LibCryptsetup.CRYPT_ACTIVATE_READONLY),
        /** Passes discards on: a reader of the device sees which sectors are free. */
        ALLOW_DISCARDS(LibCryptsetup.CRYPT_ACTIVATE_ALLOW_DISCARDS),
        /** dm-integrity without its journal: faster, but a crash may leave unreadable sectors. For scratch. */
        NO_JOURNAL(LibCryptsetup.CRYPT_ACTIVATE_NO_JOURNAL);

        private final int flag;

        Option(int flag) {
            this.flag = flag;
        }
    }

    /**
     * Rejects a header that differs in any field from what {@link Cryptsetup#create} makes: an attacker who can write
     * to the device can change it. The comparison uses the header that libcryptsetup has loaded and will map; later
     * changes of the device do not affect it.
     *
     * @throws VolumeException.UnexpectedHeader naming the first field that differs, and both values
     */
    public void requireForm() throws VolumeException {
        Layout layout = layout();
        if (!layout.equals(VolumeCreation.LAYOUT)) {
            throw new VolumeException.UnexpectedHeader(
                    Fault.own("crypt_get_metadata_size", device), VolumeCreation.LAYOUT.toString(), layout.toString());
        }
        PointerByReference text = new PointerByReference();
        call("crypt_dump_json", cd -> lib.crypt_dump_json(cd, text, 0));
        String json = text.getValue().getString(0, LuksHeaderFields.MAX_TEXT + 1, StandardCharsets.UTF_8);
        Fault fault = Fault.own("crypt_dump_json", device);
        LuksHeaderFields fields;
        try {
            fields = LuksHeaderFields.parse(json);
        } catch (IOException e) {
            throw new VolumeException.UnexpectedHeader(
                    fault, "metadata as Cloister makes it", String.valueOf(e.getMessage()));
        }
        Optional<LuksHeaderForm.Difference> difference = LuksHeaderForm.difference(uuid(), fields, integrity);
        if (difference.isPresent()) {
            throw new VolumeException.UnexpectedHeader(
                    fault, difference.get().expected(), difference.get().actual());
        }
    }

    /**
     * Maps the volume of a block device to {@code /dev/mapper/NAME}. It accepts only a header of the form that
     * {@link #requireForm} accepts, and compares what the kernel has mapped with the header.
     *
     * @throws VolumeException.UnexpectedHeader with nothing mapped
     * @throws VolumeException.UnexpectedMapping after the mapping was removed
     */
    public void map(MappingName name, VolumeKey key, Set<Option> options) throws VolumeException {
        map(name, key, options.stream().mapToInt(option -> option.flag).sum());
    }

    /** Maps in a thread that ends: libcryptsetup leaves the key in the keyring of the thread that maps. */
    void map(MappingName name, VolumeKey key, int flags) throws VolumeException {
        requireForm();
        CallThread.run("map " + name.text(), () -> activate(name.text(), key, flags));
        boolean done = false;
        try {
            new ExpectedMapping(uuid(), integrity, device, flags).require(library, name);
            done = true;
        } finally {
            if (!done) {
                library.call(
                        "crypt_deactivate_by_name",
                        name.text(),
                        () -> lib.crypt_deactivate_by_name(null, name.text(), 0));
            }
        }
    }

    /**
     * Checks whether a key opens the volume; maps nothing.
     *
     * @return the slot; 0 for a volume key
     */
    public int check(VolumeKey key) throws VolumeException {
        if (key instanceof VolumeKey.OfVolume volumeKey) {
            requireVolumeKey("crypt_volume_key_verify", volumeKey.secret());
            try (SecretMemory.Loan loan = key.secret().lend()) {
                return call(
                        "crypt_volume_key_verify",
                        cd -> lib.crypt_volume_key_verify(cd, loan.pointer(), loan.length()));
            }
        }
        return activate(null, key, 0);
    }

    private int activate(@Nullable String name, VolumeKey key, int flags) throws VolumeException {
        try (SecretMemory.Loan loan = key.secret().lend()) {
            if (key instanceof VolumeKey.OfSlot) {
                return call(
                        "crypt_activate_by_passphrase",
                        cd -> lib.crypt_activate_by_passphrase(
                                cd, name, CRYPT_ANY_SLOT, loan.pointer(), loan.length(), flags));
            }
            requireVolumeKey("crypt_activate_by_volume_key", key.secret());
            return call(
                    "crypt_activate_by_volume_key",
                    cd -> lib.crypt_activate_by_volume_key(cd, name, loan.pointer(), loan.length(), flags));
        }
    }

    /**
     * Adds a slot, authorised by a key that opens the volume.
     *
     * @return its number
     */
    public int addSlot(VolumeKey by, SecretMemory secret, KeySlotDerivation derivation) throws VolumeException {
        String function = by instanceof VolumeKey.OfVolume
                ? "crypt_keyslot_add_by_volume_key"
                : "crypt_keyslot_add_by_passphrase";
        if (!derivation.acceptsLength(secret.length())) {
            throw new VolumeException.WrongKeyLength(
                    Fault.own(function, device), derivation.lengths(), secret.length());
        }
        if (by instanceof VolumeKey.OfVolume) {
            requireVolumeKey(function, by.secret());
        }
        call("crypt_set_pbkdf_type", cd -> lib.crypt_set_pbkdf_type(cd, derivation.pbkdf(library.runtime())));
        try (SecretMemory.Loan old = by.secret().lend();
                SecretMemory.Loan added = secret.lend()) {
            return call(
                    function,
                    cd -> by instanceof VolumeKey.OfVolume
                            ? lib.crypt_keyslot_add_by_volume_key(
                                    cd, CRYPT_ANY_SLOT, old.pointer(), old.length(), added.pointer(), added.length())
                            : lib.crypt_keyslot_add_by_passphrase(
                                    cd, CRYPT_ANY_SLOT, old.pointer(), old.length(), added.pointer(), added.length()));
        }
    }

    /**
     * Overwrites a slot and removes it from the header. After the last one is removed, only the volume key opens the
     * volume.
     */
    public void removeSlot(int slot) throws VolumeException {
        call("crypt_keyslot_destroy", cd -> lib.crypt_keyslot_destroy(cd, slot));
    }

    /** Returns the numbers of the slots in use. */
    public List<Integer> slots() {
        Pointer cd = open();
        return library.query(() -> IntStream.range(0, lib.crypt_keyslot_max(CRYPT_LUKS2))
                .filter(slot -> lib.crypt_keyslot_status(cd, slot) >= CRYPT_SLOT_ACTIVE)
                .boxed()
                .toList());
    }

    public LuksTokens tokens() {
        return new LuksTokens(library, this);
    }

    public String uuid() {
        return text(lib::crypt_get_uuid);
    }

    /** Returns the label; empty if the header has none. */
    public String label() {
        return text(lib::crypt_get_label);
    }

    /** Returns the subsystem: {@code cloister} for a volume that {@link Cryptsetup#create} made. */
    public String subsystem() {
        return text(lib::crypt_get_subsystem);
    }

    public void setLabel(String label) throws VolumeException {
        VolumeFormat checked = VolumeFormat.labelled(label);
        call("crypt_set_label", cd -> lib.crypt_set_label(cd, checked.label(), VolumeCreation.SUBSYSTEM));
    }

    /** Returns the cipher, such as {@code aes-xts-plain64}. */
    public String cipher() {
        return text(lib::crypt_get_cipher) + "-" + text(lib::crypt_get_cipher_mode);
    }

    /** Returns the sector size in bytes. */
    public int sectorSize() {
        Pointer cd = open();
        return library.query(() -> lib.crypt_get_sector_size(cd));
    }

    public Path device() {
        return device;
    }

    @Override
    public void close() {
        Pointer cd = context;
        if (cd != null) {
            context = null;
            library.free(cd);
        }
    }

    /** Length of one copy of the header, and of the area of the key slots behind both copies, in bytes. */
    record Layout(long metadata, long keyslots) {
        long length() {
            return 2 * metadata + keyslots;
        }
    }

    Layout layout() throws VolumeException {
        NativeLongByReference metadata = new NativeLongByReference();
        NativeLongByReference keyslots = new NativeLongByReference();
        call("crypt_get_metadata_size", cd -> lib.crypt_get_metadata_size(cd, metadata, keyslots));
        return new Layout(metadata.longValue(), keyslots.longValue());
    }

    VolumeMapping mapping(MappingName name, boolean inUse) throws VolumeException {
        CryptActiveDevice active = new CryptActiveDevice(library.runtime());
        call("crypt_get_active_device", cd -> lib.crypt_get_active_device(cd, name.text(), active));
        boolean readOnly = (active.flags.get() & LibCryptsetup.CRYPT_ACTIVATE_READONLY) != 0;
        Path under = Path.of(text(lib::crypt_get_device_name));
        // The kernel's table is used, not the header: the disk below may have changed since.
        String cipher = DeviceMapperTable.read(library, name.text()).cipher();
        return new VolumeMapping(name, under, active.size.get() * SECTOR, cipher, readOnly, inUse);
    }

    int call(String function, ContextCall call) throws VolumeException {
        Pointer cd = open();
        return library.call(function, device, () -> call.run(cd));
    }

    @FunctionalInterface
    interface ContextCall {
        int run(Pointer cd);
    }

    @FunctionalInterface
    private interface TextOf {
        @Nullable
        String of(Pointer cd);
    }

    private String text(TextOf field) {
        Pointer cd = open();
        return Objects.requireNonNullElse(library.<@Nullable String>query(() -> field.of(cd)), "");
    }

    private Pointer open() {
        Pointer cd = context;
        if (cd == null) {
            throw new IllegalStateException("volume " + device + ": want an open one, have a closed one");
        }
        return cd;
    }

    /**
     * Checks the length of a volume key. A header without slots does not state it; then it must be one of the lengths
     * that this module creates.
     */
    private void requireVolumeKey(String function, SecretMemory key) throws VolumeException {
        Pointer cd = open();
        int size = library.query(() -> lib.crypt_get_volume_key_size(cd));
        List<Integer> expected = size > 0 ? List.of(size) : VolumeIntegrity.VOLUME_KEY_LENGTHS;
        if (!expected.contains(key.length())) {
            String lengths = expected.stream().map(String::valueOf).collect(Collectors.joining(" or "));
            throw new VolumeException.WrongKeyLength(Fault.own(function, device), lengths, key.length());
        }
    }
}
