package org.cloister.luks.key;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/**
 * States what a key that is sealed to a VM of this boot is for: HPKE's info of the two uses that docs/protocol.md,
 * section 11, names. The additional data is empty. The parser is strict, so that a key sealed for another use is never
 * sealed or opened as one of these two.
 */
public final class BootKeyContext {
    private static final String SUBJECT = "context of a key for a VM that boots";
    private static final Pattern NAME = Pattern.compile("[0-9A-Za-z._-]{1,64}");
    private static final int NONCE = 32;

    private final Use use;
    private final byte[] info;

    private BootKeyContext(Use use, byte[] info) {
        this.use = use;
        this.info = info;
    }

    /** Use of the sealed key. */
    public enum Use {
        /** A munge key. Fields: project, ticket, slot, vm, nonce. */
        HAND_OVER("cloister hand-over v1"),
        /** A drive's key. Fields: project, opening, vm, nonce, epoch. */
        UNLOCK("cloister unlock v1");

        private final String label;

        Use(String label) {
            this.label = label;
        }

        private List<Field> fields() {
            return switch (this) {
                case HAND_OVER -> List.of(Field.NAME, Field.NAME, Field.INT, Field.NAME, Field.NONCE);
                case UNLOCK -> List.of(Field.NAME, Field.NAME, Field.NAME, Field.NONCE, Field.LONG);
            };
        }

        String label() {
            return label;
        }
    }

    private enum Field {
        NAME,
        INT,
        LONG,
        NONCE;

        boolean accepts(byte[] value) {
            return switch (this) {
                case NAME ->
                    BootKeyContext.NAME
                            .matcher(new String(value, StandardCharsets.ISO_8859_1))
                            .matches();
                case INT -> value.length == Integer.BYTES;
                case LONG -> value.length == Long.BYTES;
                case NONCE -> value.length == BootKeyContext.NONCE;
            };
        }
    }

    /**
     * Parses HPKE's info.
     *
     * @param info the use's label and then the fields, each preceded by its length in two bytes
     * @throws KeyException.Malformed if the label is another use's, or the fields differ
     */
    public static BootKeyContext read(byte[] info) throws KeyException.Malformed {
        ByteBuffer rest = ByteBuffer.wrap(info.clone());
        byte[] label = next(rest);
        Use use = Arrays.stream(Use.values())
                .filter(each -> Arrays.equals(LengthPrefixedFields.text(each.label), label))
                .findFirst()
                .orElseThrow(() -> malformed("that of a hand-over or an unlocking", "another use's"));
        for (Field field : use.fields()) {
            if (!field.accepts(next(rest))) {
                throw malformed("the fields of " + use.label, "another value for " + field);
            }
        }
        if (rest.hasRemaining()) {
            throw malformed("the fields of " + use.label, rest.remaining() + " bytes more");
        }
        return new BootKeyContext(use, info.clone());
    }

    public Use use() {
        return use;
    }

    /** Returns HPKE's info. */
    byte[] info() {
        return info.clone();
    }

    private static byte[] next(ByteBuffer rest) throws KeyException.Malformed {
        int length = rest.remaining() < Short.BYTES ? -1 : Short.toUnsignedInt(rest.getShort());
        if (length < 0 || length > rest.remaining()) {
            throw malformed("fields behind their lengths", "an end within one");
        }
        byte[] field = new byte[length];
        rest.get(field);
        return field;
    }

    private static KeyException.Malformed malformed(String want, String have) {
        return new KeyException.Malformed(SUBJECT, want, have);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof BootKeyContext context && Arrays.equals(info, context.info);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(info);
    }

    @Override
    public String toString() {
        return "BootContext[" + use.label + ", " + HexFormat.of().formatHex(info) + "]";
    }
}
