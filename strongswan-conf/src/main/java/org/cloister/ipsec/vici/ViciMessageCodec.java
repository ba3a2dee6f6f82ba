package org.cloister.ipsec.vici;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.cloister.ipsec.vici.IpsecException.Malformed;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes a message: a type of 8 bits, then name (length of 8 bits) and value (length of 16 bits) as the
 * type requires.
 */
final class ViciMessageCodec {
    /** Maximum size of one packet, as in charon. */
    static final int MAX_BYTES = 512 * 1024;
    /** Maximum depth. charon's deepest message, an event of a rekeyed child, has five levels. */
    static final int MAX_DEPTH = 16;

    private static final int SECTION_START = 1;
    private static final int SECTION_END = 2;
    private static final int KEY_VALUE = 3;
    private static final int LIST_START = 4;
    private static final int LIST_ITEM = 5;
    private static final int LIST_END = 6;
    private static final int MAX_NAME = 0xff;
    private static final int MAX_VALUE = 0xffff;

    private ViciMessageCodec() {}

    /** Reads to the end of the buffer. */
    static ViciMessage read(ByteBuf in) throws Malformed {
        if (in.readableBytes() > MAX_BYTES) {
            throw new Malformed("vici message", "at most " + MAX_BYTES + " bytes", in.readableBytes() + " bytes");
        }
        Reader reader = new Reader(in);
        while (in.isReadable()) {
            reader.element();
        }
        return reader.root();
    }

    static void write(ViciMessage message, ByteBuf out) {
        message.elements().forEach((name, element) -> {
            if (element instanceof ViciMessage section) {
                start(SECTION_START, name, out);
                write(section, out);
                out.writeByte(SECTION_END);
            } else if (element instanceof ViciMessage.Items items) {
                start(LIST_START, name, out);
                items.values().forEach(item -> value(out.writeByte(LIST_ITEM), item));
                out.writeByte(LIST_END);
            } else if (element instanceof ViciMessage.Value value) {
                start(KEY_VALUE, name, out);
                value(out, value);
            }
        });
    }

    /** Writes everything of a value but its bytes, which must follow. */
    static void writeValueStart(String name, int length, ByteBuf out) {
        start(KEY_VALUE, name, out);
        out.writeShort(requireSize(length));
    }

    static String requireName(String name) {
        if (name.length() > MAX_NAME || !name.chars().allMatch(ViciMessageCodec::isPlain)) {
            throw new IllegalArgumentException("vici name: want at most 255 printable ASCII characters, have " + name);
        }
        return name;
    }

    static void writeName(String name, ByteBuf out) {
        out.writeByte(name.length()).writeCharSequence(requireName(name), StandardCharsets.US_ASCII);
    }

    static String readName(ByteBuf in) throws Malformed {
        int length = require(1, "a name's length", in).readUnsignedByte();
        require(length, "a name of " + length + " bytes", in);
        String name = in.readCharSequence(length, StandardCharsets.ISO_8859_1).toString();
        if (!name.chars().allMatch(ViciMessageCodec::isPlain)) {
            throw new Malformed("vici name", "printable ASCII", "other bytes at " + (in.readerIndex() - length));
        }
        return name;
    }

    private static void start(int type, String name, ByteBuf out) {
        writeName(name, out.writeByte(type));
    }

    private static void value(ByteBuf out, ViciMessage.Value value) {
        out.writeShort(requireSize(value.size())).writeBytes(value.bytes());
    }

    private static int requireSize(int size) {
        if (size < 0 || size > MAX_VALUE) {
            throw new IllegalArgumentException("vici value: want at most 65535 bytes, have " + size);
        }
        return size;
    }

    private static boolean isPlain(int character) {
        return character >= ' ' && character <= '~';
    }

    private static ByteBuf require(int bytes, String what, ByteBuf in) throws Malformed {
        if (in.readableBytes() < bytes) {
            throw new Malformed("vici message", what, in.readableBytes() + " bytes to its end");
        }
        return in;
    }

    /** Position of the reader: the open sections, and a list, of which at most one can be open. */
    private static final class Reader {
        private final ByteBuf in;
        private final Deque<Map<String, ViciElement>> open = new ArrayDeque<>();
        private final Deque<String> names = new ArrayDeque<>();
        private @Nullable String list;
        private List<ViciMessage.Value> items = new ArrayList<>();

        Reader(ByteBuf in) {
            this.in = in;
            open.push(new LinkedHashMap<>());
        }

        void element() throws Malformed {
            int type = in.readUnsignedByte();
            if (list != null && type != LIST_ITEM && type != LIST_END) {
                throw new Malformed("vici list " + list, "an item or its end", "element type " + type);
            }
            switch (type) {
                case SECTION_START -> openSection(readName(in));
                case SECTION_END -> closeSection();
                case KEY_VALUE -> {
                    String name = readName(in);
                    put(name, value());
                }
                case LIST_START -> {
                    list = readName(in);
                    items = new ArrayList<>();
                }
                case LIST_ITEM -> {
                    requireList(type);
                    items.add(value());
                }
                case LIST_END -> {
                    put(requireList(type), new ViciMessage.Items(items));
                    list = null;
                }
                default -> throw new Malformed("vici message", "an element type from 1 to 6", Integer.toString(type));
            }
        }

        ViciMessage root() throws Malformed {
            if (list != null) {
                throw new Malformed("vici list " + list, "its end", "the end of the message");
            }
            if (!names.isEmpty()) {
                throw new Malformed("vici section " + names.peek(), "its end", "the end of the message");
            }
            return ViciMessage.of(open.element());
        }

        private void openSection(String name) throws Malformed {
            if (names.size() == MAX_DEPTH) {
                throw new Malformed("vici message", "sections " + MAX_DEPTH + " deep", "one more: " + name);
            }
            names.push(name);
            open.push(new LinkedHashMap<>());
        }

        private void closeSection() throws Malformed {
            if (names.isEmpty()) {
                throw new Malformed("vici message", "a section to end", "none open");
            }
            ViciMessage section = ViciMessage.of(open.pop());
            put(names.pop(), section);
        }

        private ViciMessage.Value value() throws Malformed {
            int length = require(2, "a value's length", in).readUnsignedShort();
            require(length, "a value of " + length + " bytes", in);
            byte[] bytes = new byte[length];
            in.readBytes(bytes);
            return new ViciMessage.Value(bytes);
        }

        private String requireList(int type) throws Malformed {
            String open = list;
            if (open == null) {
                throw new Malformed("vici message", "an open list", "element type " + type + " without one");
            }
            return open;
        }

        private void put(String name, ViciElement element) throws Malformed {
            if (open.element().putIfAbsent(name, element) != null) {
                throw new Malformed("vici section", "each name once", name + " twice");
            }
        }
    }
}
