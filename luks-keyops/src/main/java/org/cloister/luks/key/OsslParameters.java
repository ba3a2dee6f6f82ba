package org.cloister.luks.key;

import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * An array of OSSL_PARAM (openssl/core.h): five words each, the last one empty. The array points to values and does not
 * copy them.
 */
final class OsslParameters {
    private static final int UNSIGNED_INTEGER = 2;
    private static final int UTF8_STRING = 4;
    private static final int OCTET_STRING = 5;
    private static final int WORD = 8;
    private static final int ENTRY = 5 * WORD;
    private static final long UNMODIFIED = -1;

    private final Runtime runtime;
    private final List<Entry> entries = new ArrayList<>();

    OsslParameters(Runtime runtime) {
        this.runtime = runtime;
    }

    private record Entry(Pointer key, int type, Pointer value, long length) {}

    OsslParameters text(String key, String value) {
        return add(key, UTF8_STRING, string(value), value.length());
    }

    OsslParameters octets(String key, Pointer value, long length) {
        return add(key, OCTET_STRING, value, length);
    }

    /** @param value in the machine's byte order, which is little-endian on every supported machine */
    OsslParameters number(String key, Pointer value, long length) {
        return add(key, UNSIGNED_INTEGER, value, length);
    }

    /** Calls with the array; the array and all that it points to stay allocated until the call returns. */
    int callWith(ToIntFunction<Pointer> call) {
        Pointer array = Memory.allocateDirect(runtime, (entries.size() + 1) * ENTRY, true);
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            long at = (long) i * ENTRY;
            array.putPointer(at, entry.key());
            array.putInt(at + WORD, entry.type());
            array.putPointer(at + 2 * WORD, entry.value());
            array.putLong(at + 3 * WORD, entry.length());
            array.putLong(at + 4 * WORD, UNMODIFIED);
        }
        try {
            return call.applyAsInt(array);
        } finally {
            Reference.reachabilityFence(array);
            Reference.reachabilityFence(entries);
        }
    }

    private OsslParameters add(String key, int type, Pointer value, long length) {
        entries.add(new Entry(string(key), type, value, length));
        return this;
    }

    private Pointer string(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        Pointer copy = Memory.allocateDirect(runtime, bytes.length + 1, true);
        copy.put(0, bytes, 0, bytes.length);
        return copy;
    }
}
