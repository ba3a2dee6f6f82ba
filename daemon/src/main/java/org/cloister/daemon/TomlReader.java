package org.cloister.daemon;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlPosition;
import org.tomlj.TomlTable;

/**
 * Reader of one TOML file, key by key. Collects errors with their lines; a key that was not requested is an error, too.
 */
public final class TomlReader {
    private static final Pattern ADDRESS = Pattern.compile("(\\[[0-9a-fA-F:.]+]|[0-9.]+):([0-9]{1,5})");

    private record Problem(int line, String text) {}

    private final Path file;
    private final TomlTable toml;
    /** Prefix of each key in an error; the table's own line is reported for keys that are missing. */
    private final String path;

    private final int line;
    private final Set<String> known = new LinkedHashSet<>();
    private final List<TomlReader> tables = new ArrayList<>();
    private final List<Problem> problems;

    public TomlReader(Path file) throws IOException {
        this(file, Toml.parse(file));
    }

    private TomlReader(Path file, TomlParseResult toml) {
        this(file, toml, "", 1, new ArrayList<>());
        for (TomlParseError error : toml.errors()) {
            problems.add(new Problem(error.position().line(), String.valueOf(error.getMessage())));
        }
    }

    private TomlReader(Path file, TomlTable toml, String path, int line, List<Problem> problems) {
        this.file = file;
        this.toml = toml;
        this.path = path;
        this.line = line;
        this.problems = problems;
    }

    /**
     * Opens a file.
     *
     * @throws InvalidConfigException if there is no such file, or it may not be read
     */
    public static TomlReader open(Path file) throws IOException {
        try {
            return new TomlReader(file);
        } catch (NoSuchFileException e) {
            throw new InvalidConfigException(List.of(file + ": no such file; the package has a sample of it"));
        } catch (AccessDeniedException e) {
            throw new InvalidConfigException(
                    List.of(file + ": not readable; let user " + System.getProperty("user.name") + " read it"));
        }
    }

    /**
     * Reads TOML from bytes.
     *
     * @param file that errors name
     * @throws InvalidConfigException if they are not text in UTF-8
     */
    public static TomlReader of(Path file, byte[] content) throws InvalidConfigException {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(content))
                    .toString();
            return new TomlReader(file, Toml.parse(text));
        } catch (CharacterCodingException e) {
            throw new InvalidConfigException(List.of(file + ": want text in UTF-8, have other bytes"));
        }
    }

    public Path path(String key, String otherwise) {
        String text = text(key, otherwise);
        Path path = Path.of(text.indexOf('\0') >= 0 ? otherwise : text);
        if (!path.isAbsolute()) {
            problem(key, "want an absolute path, have \"" + text + "\"");
        }
        return path;
    }

    /** Returns a path; empty if the key is not there. */
    public Optional<Path> path(String key) {
        return has(key) ? Optional.of(path(key, "/")) : Optional.empty();
    }

    public int number(String key, int otherwise, int least, int most) {
        Object value = value(key);
        if (value == null) {
            return otherwise;
        }
        if (!(value instanceof Long number) || number < least || number > most) {
            problem(key, "want " + least + " to " + most + ", have " + value);
            return otherwise;
        }
        return number.intValue();
    }

    /** Returns a duration in whole seconds. */
    public Duration seconds(String key, Duration otherwise, int least, int most) {
        return Duration.ofSeconds(number(key, (int) otherwise.toSeconds(), least, most));
    }

    /** Returns an IP address and a port; does not resolve names. */
    public @Nullable InetSocketAddress address(String key, @Nullable String otherwise) {
        String text = otherwise == null && !toml.contains(key) ? null : text(key, otherwise == null ? "" : otherwise);
        known.add(key);
        if (text == null) {
            return null;
        }
        Matcher matcher = ADDRESS.matcher(text);
        int port = matcher.matches() ? Integer.parseInt(matcher.group(2)) : -1;
        if (port < 0 || port > 65535) {
            problem(key, "want ADDRESS:PORT such as \"0.0.0.0:7443\" or \"[::]:7443\", have \"" + text + "\"");
            return null;
        }
        try {
            return new InetSocketAddress(InetAddress.getByName(matcher.group(1)), port);
        } catch (UnknownHostException e) {
            problem(key, "want an IP address, have \"" + matcher.group(1) + "\"");
            return null;
        }
    }

    public void problem(String key, String text) {
        TomlPosition position = toml.contains(key) ? toml.inputPositionOf(key) : null;
        problems.add(new Problem(position == null ? line : position.line(), path + key + ": " + text));
    }

    /** Requires keys that have no default. */
    public void require(String... keys) {
        for (String key : keys) {
            if (!has(key)) {
                problem(key, "missing");
            }
        }
    }

    /**
     * Ends the reading.
     *
     * @throws InvalidConfigException if there was any error, with all of them in the order of lines
     */
    public void finish() throws InvalidConfigException {
        requireKnown();
        if (!problems.isEmpty()) {
            throw new InvalidConfigException(problems.stream()
                    .sorted((a, b) -> Integer.compare(a.line, b.line))
                    .map(each -> file + ":" + each.line + ": " + each.text)
                    .toList());
        }
    }

    private void requireKnown() {
        for (String key : toml.dottedKeySet()) {
            if (!known.contains(key)) {
                problem(key, "unknown key; known: " + String.join(", ", known));
            }
        }
        tables.forEach(TomlReader::requireKnown);
    }

    /** Returns the tables under {@code [[key]]}, each read like a file; {@link #finish} of this reader covers them. */
    public List<TomlReader> tables(String key, int most) {
        Object value = value(key);
        if (value == null) {
            return List.of();
        }
        if (!(value instanceof TomlArray array)
                || array.toList().stream().anyMatch(each -> !(each instanceof TomlTable))) {
            problem(key, "want tables, each under [[" + key + "]], have " + value);
            return List.of();
        }
        if (array.size() > most) {
            problem(key, "want at most " + most + " tables, have " + array.size());
            return List.of();
        }
        List<TomlReader> found = new ArrayList<>();
        for (int i = 0; i < array.size(); i++) {
            int at = array.inputPositionOf(i).line();
            found.add(new TomlReader(file, array.getTable(i), path + key + "[" + i + "].", at, problems));
        }
        tables.addAll(found);
        return found;
    }

    /**
     * Returns a list of texts, none twice, in the file's order.
     *
     * @param form of each, in words
     */
    public List<String> texts(String key, int most, Pattern want, String form) {
        Object value = value(key);
        Set<String> texts = new LinkedHashSet<>();
        if (value == null) {
            return List.of();
        }
        if (!(value instanceof TomlArray array) || array.size() > most) {
            problem(key, "want a list of at most " + most + " texts such as [\"a\", \"b\"], have " + value);
            return List.of();
        }
        for (Object each : array.toList()) {
            if (!(each instanceof String text) || !want.matcher(text).matches()) {
                problem(key, "want " + form + ", have " + each);
            } else if (!texts.add(text)) {
                problem(key, "want each once, have \"" + text + "\" twice");
            }
        }
        return List.copyOf(texts);
    }

    /** Returns a list of whole numbers, none twice. */
    public Set<Integer> numbers(String key, int least, int most) {
        Set<Integer> numbers = new TreeSet<>();
        Object value = value(key);
        if (value == null) {
            return numbers;
        }
        if (!(value instanceof TomlArray array)) {
            problem(key, "want a list such as [1, 2], have " + value);
            return numbers;
        }
        for (Object each : array.toList()) {
            if (!(each instanceof Long number) || number < least || number > most) {
                problem(key, "want numbers from " + least + " to " + most + ", have " + each);
            } else {
                numbers.add(number.intValue());
            }
        }
        return numbers;
    }

    public boolean has(String key) {
        known.add(key);
        return toml.contains(key);
    }

    public String text(String key, String otherwise) {
        Object value = value(key);
        if (value == null) {
            return otherwise;
        }
        if (!(value instanceof String text)) {
            problem(key, "want a text in quotes, have " + value);
            return otherwise;
        }
        return text;
    }

    public boolean flag(String key, boolean otherwise) {
        Object value = value(key);
        if (value == null) {
            return otherwise;
        }
        if (!(value instanceof Boolean flag)) {
            problem(key, "want true or false, have " + value);
            return otherwise;
        }
        return flag;
    }

    private @Nullable Object value(String key) {
        known.add(key);
        return toml.get(key);
    }
}
