package org.cloister.luks.volume;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import org.cloister.luks.volume.VolumeException.Fault;

/**
 * A line of device-mapper's table, as the kernel and not a header states it. It is read from the kernel, because
 * libcryptsetup describes a mapping from the header of the device below.
 *
 * @param target such as {@code crypt}
 * @param start in sectors of 512 bytes
 * @param length in sectors of 512 bytes
 * @param words the target's parameters
 */
record DeviceMapperTable(boolean readOnly, int targets, String target, long start, long length, List<String> words) {
    private static final String CONTROL = "/dev/mapper/control";
    /** {@code _IOWR(0xfd, 12, struct dm_ioctl)} of linux/dm-ioctl.h. */
    private static final long DM_TABLE_STATUS = 0xc138fd0cL;

    private static final int VERSION_MAJOR = 4;
    private static final int DM_READONLY_FLAG = 1;
    private static final int DM_STATUS_TABLE_FLAG = 1 << 4;
    private static final int DM_BUFFER_FULL_FLAG = 1 << 8;

    /** Offsets in struct dm_ioctl. */
    private static final int DATA_SIZE = 12;

    private static final int DATA_START = 16;
    private static final int TARGET_COUNT = 20;
    private static final int FLAGS = 28;
    private static final int NAME = 48;
    private static final int IOCTL_LENGTH = 312;

    /** Offsets in struct dm_target_spec. */
    private static final int SPEC_LENGTH = 8;

    private static final int SPEC_TYPE = 24;
    private static final int SPEC_TYPE_LENGTH = 16;
    private static final int SPEC_END = 40;

    private static final int BUFFER = 16 << 10;

    /**
     * Index of the key in a line of dm-crypt: cipher, key, IV offset, device, offset. A key in the kernel's keyring
     * begins with a colon.
     */
    private static final int KEY_WORD = 1;

    DeviceMapperTable {
        words = List.copyOf(words);
    }

    /** @throws VolumeException if no such mapping exists, or a table of more than one line does not fit the buffer */
    static DeviceMapperTable read(CryptsetupLibrary library, String name) throws VolumeException {
        VolumeLibC system = library.system();
        int fd = system.open(CONTROL, VolumeLibC.O_RDWR | VolumeLibC.O_CLOEXEC);
        if (fd < 0) {
            throw new VolumeException.DeviceMapperMissing(library.fault("open", CONTROL, library.lastErrno(), ""));
        }
        Pointer buffer = Memory.allocateDirect(library.runtime(), BUFFER, true);
        try {
            buffer.putInt(0, VERSION_MAJOR);
            buffer.putInt(DATA_SIZE, BUFFER);
            buffer.putInt(DATA_START, IOCTL_LENGTH);
            buffer.putInt(FLAGS, DM_STATUS_TABLE_FLAG);
            byte[] text = name.getBytes(StandardCharsets.US_ASCII);
            buffer.put(NAME, text, 0, text.length);
            if (system.ioctl(fd, DM_TABLE_STATUS, buffer) != 0) {
                throw new VolumeException.CallFailed(library.fault("DM_TABLE_STATUS", name, library.lastErrno(), ""));
            }
            if ((buffer.getInt(FLAGS) & DM_BUFFER_FULL_FLAG) != 0) {
                throw new VolumeException.UnexpectedMapping(
                        Fault.own("DM_TABLE_STATUS", name),
                        "a table of less than " + BUFFER + " bytes",
                        "a longer one");
            }
            return parse(buffer);
        } finally {
            // The table contains the key itself if the key is not in the keyring.
            buffer.setMemory(0, BUFFER, (byte) 0);
            system.close(fd);
        }
    }

    private static DeviceMapperTable parse(Pointer buffer) {
        boolean readOnly = (buffer.getInt(FLAGS) & DM_READONLY_FLAG) != 0;
        int targets = buffer.getInt(TARGET_COUNT);
        int at = buffer.getInt(DATA_START);
        if (targets < 1 || at < IOCTL_LENGTH || at > BUFFER - SPEC_END) {
            return new DeviceMapperTable(readOnly, targets, "", 0, 0, List.of());
        }
        String type = buffer.getString(at + (long) SPEC_TYPE, SPEC_TYPE_LENGTH, StandardCharsets.US_ASCII);
        byte[] parameters = new byte[BUFFER - at - SPEC_END];
        buffer.get(at + (long) SPEC_END, parameters, 0, parameters.length);
        try {
            return new DeviceMapperTable(
                    readOnly,
                    targets,
                    type,
                    buffer.getLong(at),
                    buffer.getLong(at + (long) SPEC_LENGTH),
                    words(parameters, type.equals("crypt")));
        } finally {
            Arrays.fill(parameters, (byte) 0);
        }
    }

    /** Splits the parameters. A key that is not a name in the keyring is replaced before any of it becomes text. */
    static List<String> words(byte[] parameters, boolean crypt) {
        List<String> words = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < parameters.length && from >= 0; i++) {
            if (parameters[i] == ' ' || parameters[i] == 0) {
                boolean clear = crypt && words.size() == KEY_WORD && i > from && parameters[from] != ':';
                words.add(clear ? "KEY" : new String(parameters, from, i - from, StandardCharsets.ISO_8859_1));
                from = parameters[i] == 0 ? -1 : i + 1;
            }
        }
        return words;
    }

    /** Returns the cipher, such as {@code aes-xts-plain64}; empty if nothing is encrypted. */
    String cipher() {
        return target.equals("crypt") && !words.isEmpty() ? LuksHeaderForm.printable(words.get(0)) : "";
    }

    /** Returns the options, whose order does not matter; word {@code from} is their number. */
    Set<String> options(int from) {
        return words.size() <= from ? Set.of() : Set.copyOf(words.subList(from + 1, words.size()));
    }
}
