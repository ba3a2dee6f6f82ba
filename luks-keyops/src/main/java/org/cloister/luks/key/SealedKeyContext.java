package org.cloister.luks.key;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Context of a handed-over key: the use and the VM that it is for. The context is HPKE's additional data, so that a key
 * sealed for one use does not open for another; luks-keyops/FORMAT.md has the encoding. The opener checks whether
 * {@code expires} has passed.
 *
 * @param project the project's id
 * @param ticket the ticket's id
 * @param slot from 0 on
 * @param vm the machine's id
 * @param image the image's identity, SHA-384 in hex
 * @param purpose what the key does there, such as {@code munge} or {@code drive}
 * @param expires seconds since 1970
 */
public record SealedKeyContext(
        String project, String ticket, int slot, String vm, String image, String purpose, long expires) {
    private static final Pattern NAME = Pattern.compile("[0-9A-Za-z._-]{1,64}");
    private static final Pattern IMAGE = Pattern.compile("[0-9a-f]{96}");
    private static final int MAX_SLOT = 0xffff;
    private static final byte[] INFO = "cloister sealed key 1".getBytes(StandardCharsets.US_ASCII);

    public SealedKeyContext {
        for (String name : List.of(project, ticket, vm, purpose)) {
            require(
                    NAME.matcher(name).matches(),
                    "a name of 1 to 64 letters, digits, dots, dashes and underlines",
                    name);
        }
        require(IMAGE.matcher(image).matches(), "an image identity of 96 lower-case hex digits", image);
        require(slot >= 0 && slot <= MAX_SLOT, "a slot from 0 to " + MAX_SLOT, String.valueOf(slot));
        require(expires >= 0, "an expiry of 0 or more seconds since 1970", String.valueOf(expires));
    }

    /** Returns HPKE's info, which separates this use of the suite from others. */
    public static byte[] info() {
        return INFO.clone();
    }

    /** Returns HPKE's additional data: each field preceded by its length, in the order of the record. */
    public byte[] encode() {
        return LengthPrefixedFields.encode(
                LengthPrefixedFields.text(project),
                LengthPrefixedFields.text(ticket),
                LengthPrefixedFields.number(slot),
                LengthPrefixedFields.text(vm),
                LengthPrefixedFields.text(image),
                LengthPrefixedFields.text(purpose),
                LengthPrefixedFields.number(expires));
    }

    private static void require(boolean holds, String expected, String actual) {
        if (!holds) {
            throw new IllegalArgumentException("context of a sealed key: want " + expected + ", have " + actual);
        }
    }
}
