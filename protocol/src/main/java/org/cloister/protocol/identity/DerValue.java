package org.cloister.protocol.identity;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.encoding.MalformedException;

/** Parsed DER value (X.690), as far as the extensions that the runtime does not parse require it. */
final class DerValue {
    static final int INTEGER = 0x02;
    static final int OCTET_STRING = 0x04;
    static final int SEQUENCE = 0x30;

    private static final int LONG_FORM = 0x80;
    private static final int MAX_LENGTH_BYTES = 2;

    private final int tag;
    private final byte[] content;

    private DerValue(int tag, byte[] content) {
        this.tag = tag;
        this.content = content;
    }

    int tag() {
        return tag;
    }

    byte[] content() {
        return content;
    }

    /** Reads the only value in the bytes, which must have that tag. */
    static DerValue read(byte[] der, int tag) throws MalformedException {
        List<DerValue> values = readAll(der);
        if (values.size() != 1 || values.get(0).tag != tag) {
            throw new MalformedException("DER: want one value of tag " + tag + ", have " + values.size() + " others");
        }
        return values.get(0);
    }

    List<DerValue> values() throws MalformedException {
        return readAll(content);
    }

    private static List<DerValue> readAll(byte[] der) throws MalformedException {
        ByteBuffer in = ByteBuffer.wrap(der);
        List<DerValue> values = new ArrayList<>();
        while (in.hasRemaining()) {
            int tag = in.get() & 0xff;
            int length = length(in);
            if (length > in.remaining()) {
                throw new MalformedException("DER: want " + length + " bytes, have " + in.remaining());
            }
            byte[] content = new byte[length];
            in.get(content);
            values.add(new DerValue(tag, content));
        }
        return values;
    }

    private static int length(ByteBuffer in) throws MalformedException {
        if (in.hasRemaining()) {
            int first = in.get() & 0xff;
            if (first < LONG_FORM) {
                return first;
            }
            int count = first - LONG_FORM;
            if (count >= 1 && count <= MAX_LENGTH_BYTES && in.remaining() >= count) {
                int length = 0;
                for (int i = 0; i < count; i++) {
                    length = length << 8 | (in.get() & 0xff);
                }
                if (length >= (count == 1 ? LONG_FORM : 1 << 8)) {
                    return length;
                }
            }
        }
        throw new MalformedException("DER: want a length in the shortest form, have another");
    }
}
