package org.cloister.ipsec.vici;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A section with its named values, lists and sections, in their order; the root is a section too. See "Message format"
 * of strongSwan's {@code src/libcharon/plugins/vici/README.md}. It never contains a secret: see
 * {@link PrivateKeySource}.
 */
public final class ViciMessage implements ViciElement {
    /** The encoding of "yes". */
    public static final String YES = "yes";

    private static final ViciMessage EMPTY = new ViciMessage(Map.of());

    private final Map<String, ViciElement> elements;

    private ViciMessage(Map<String, ViciElement> elements) {
        this.elements = elements;
    }

    public static ViciMessage empty() {
        return EMPTY;
    }

    static ViciMessage of(Map<String, ViciElement> elements) {
        return new ViciMessage(Collections.unmodifiableMap(new LinkedHashMap<>(elements)));
    }

    public ViciMessage with(String name, String value) {
        return with(name, new Value(value.getBytes(StandardCharsets.UTF_8)));
    }

    public ViciMessage with(String name, List<String> items) {
        return with(
                name,
                new Items(items.stream()
                        .map(item -> new Value(item.getBytes(StandardCharsets.UTF_8)))
                        .toList()));
    }

    /** @param element replaces the element of that name */
    public ViciMessage with(String name, ViciElement element) {
        Map<String, ViciElement> more = new LinkedHashMap<>(elements);
        more.put(ViciMessageCodec.requireName(name), element);
        return new ViciMessage(Collections.unmodifiableMap(more));
    }

    public Map<String, ViciElement> elements() {
        return elements;
    }

    /** Returns a value, or null when no value has this name. */
    public @Nullable String text(String name) {
        return elements.get(name) instanceof Value value ? value.text() : null;
    }

    /** Returns the bytes of a value, or an empty array when no value has this name. */
    public byte[] blob(String name) {
        return elements.get(name) instanceof Value value ? value.bytes() : new byte[0];
    }

    public String text(String name, String otherwise) {
        String text = text(name);
        return text == null ? otherwise : text;
    }

    /** Returns a non-negative number, or {@code otherwise} when no value has this name or it is not such a number. */
    public long number(String name, long otherwise) {
        String text = text(name);
        return text == null || !text.matches("[0-9]{1,18}") ? otherwise : Long.parseLong(text);
    }

    public boolean isYes(String name) {
        return YES.equals(text(name));
    }

    /** Returns a list; empty when no list has this name. */
    public List<String> items(String name) {
        return elements.get(name) instanceof Items items
                ? items.values().stream().map(Value::text).toList()
                : List.of();
    }

    /** Returns a section; empty when no section has this name. */
    public ViciMessage section(String name) {
        return elements.get(name) instanceof ViciMessage section ? section : EMPTY;
    }

    /** Returns all sections in this one, by name. */
    public Map<String, ViciMessage> sections() {
        Map<String, ViciMessage> sections = new LinkedHashMap<>();
        elements.forEach((name, element) -> {
            if (element instanceof ViciMessage section) {
                sections.put(name, section);
            }
        });
        return sections;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ViciMessage message && elements.equals(message.elements);
    }

    @Override
    public int hashCode() {
        return elements.hashCode();
    }

    /** Returns text for people; blobs appear as their size. */
    @Override
    public String toString() {
        return elements.toString();
    }

    /** A blob; charon itself uses text, and DER for certificates. */
    public static final class Value implements ViciElement {
        private final byte[] bytes;

        public Value(byte[] bytes) {
            this.bytes = bytes.clone();
        }

        public byte[] bytes() {
            return bytes.clone();
        }

        int size() {
            return bytes.length;
        }

        public String text() {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Value value && Arrays.equals(bytes, value.bytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            for (byte each : bytes) {
                if (each < ' ' || each == 0x7f) {
                    return "(" + bytes.length + " bytes)";
                }
            }
            return text();
        }
    }

    /** A list. */
    public record Items(List<Value> values) implements ViciElement {
        public Items {
            values = List.copyOf(values);
        }

        /** Returns a list of unchanged blobs, such as certificates. */
        public static Items ofBlobs(List<byte[]> blobs) {
            return new Items(blobs.stream().map(Value::new).toList());
        }

        @Override
        public String toString() {
            return values.toString();
        }
    }
}
