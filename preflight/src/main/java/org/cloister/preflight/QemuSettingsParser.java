package org.cloister.preflight;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Parser of libvirt's configuration files (virconf.c of libvirt): a setting is {@code name = value}, and a value is a
 * number, a text in quotes, or a list in brackets, which may span lines, as a text in three quotes may. Skips what is
 * no setting: libvirt does not start with it, and reports it with its line.
 */
final class QemuSettingsParser {
    private static final String LONG_QUOTE = "\"\"\"";

    private final String text;
    private int at;

    /**
     * A setting.
     *
     * @param line on which its name is, from 1
     * @param value a list as {@code ["a", "b"]}, a text in double quotes
     */
    record Setting(int line, String name, String value) {}

    QemuSettingsParser(String text) {
        this.text = text;
    }

    List<Setting> parse() throws IOException {
        List<Setting> settings = new ArrayList<>();
        for (skipToToken(); at < text.length(); skipToToken()) {
            int line = line();
            String name = name();
            skipBlanks();
            if (!name.isEmpty() && peek() == '=') {
                at++;
                skipBlanks();
                settings.add(new Setting(line, name, peek() == '[' ? list(name) : scalar(name)));
            }
            skipLine();
        }
        return settings;
    }

    private String list(String name) throws IOException {
        List<String> elements = new ArrayList<>();
        int line = line();
        at++;
        for (skipToToken(); peek() != ']'; skipToToken()) {
            if (at == text.length()) {
                throw unclosed(name, "list", "]", line);
            } else if (peek() == ',') {
                at++;
            } else {
                elements.add(scalar(name));
            }
        }
        at++;
        return "[" + String.join(", ", elements) + "]";
    }

    /** Parses a text or a number; anything else up to the next delimiter is one, too, and so is nothing at all. */
    private String scalar(String name) throws IOException {
        int from = at;
        if (isLineEnd(peek()) || peek() == '#') {
            return "";
        }
        if (text.startsWith(LONG_QUOTE, at)) {
            int end = text.indexOf(LONG_QUOTE, at + LONG_QUOTE.length());
            if (end < 0) {
                throw unclosed(name, "text", LONG_QUOTE, line());
            }
            at = end + LONG_QUOTE.length();
            return '"' + text.substring(from + LONG_QUOTE.length(), end) + '"';
        }
        char quote = peek();
        if (quote == '"' || quote == '\'') {
            at++;
            while (at < text.length() && peek() != quote && !isLineEnd(peek())) {
                at++;
            }
            String content = text.substring(from + 1, at);
            if (peek() == quote) {
                at++;
            }
            return '"' + content + '"';
        }
        at++;
        while (at < text.length() && !isBlank(peek()) && !isLineEnd(peek()) && "#,]".indexOf(peek()) < 0) {
            at++;
        }
        return text.substring(from, at);
    }

    private String name() {
        int from = at;
        while (at < text.length() && (Character.isLetterOrDigit(peek()) || peek() == '_')) {
            at++;
        }
        return text.substring(from, at);
    }

    /** Skips blanks, line ends and comments. */
    private void skipToToken() {
        while (at < text.length() && (isBlank(peek()) || isLineEnd(peek()) || peek() == '#')) {
            if (peek() == '#') {
                skipLine();
            } else {
                at++;
            }
        }
    }

    private void skipBlanks() {
        while (isBlank(peek())) {
            at++;
        }
    }

    private void skipLine() {
        while (at < text.length() && !isLineEnd(peek())) {
            at++;
        }
    }

    /** Returns the next character, or a line end behind the last one. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : '\n';
    }

    private int line() {
        return (int) text.substring(0, at).chars().filter(each -> each == '\n').count() + 1;
    }

    private static boolean isBlank(char character) {
        return character == ' ' || character == '\t';
    }

    private static boolean isLineEnd(char character) {
        return character == '\n' || character == '\r';
    }

    private static IOException unclosed(String name, String what, String end, int line) {
        return new IOException("line " + line + ": the " + what + " of " + name + " is not closed; add " + end);
    }
}
