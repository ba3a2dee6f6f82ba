package org.cloister.daemon;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
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

/** One TOML file, read key by key. Problems are collected with their line; what is not asked for is one, too. */
public final class TomlReader {
    private static final Pattern ADDRESS = Pattern.compile("(\\[[0-9a-fA-F:.]+]|[0-9.]+):([0-9]{1,5})");

    private record Problem(int line, String text) {}

    private final Path file;
    private final TomlParseResult toml;
    private final Set<String> known = new LinkedHashSet<>();
    private final List<Problem> problems = new ArrayList<>();

    public TomlReader(Path file) throws IOException {
        this.file = file;
        this.toml = Toml.parse(file);
        for (TomlParseError error : toml.errors()) {
            problems.add(new Problem(error.position().line(), String.valueOf(error.getMessage())));
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

    /** Whole seconds. */
    public Duration seconds(String key, Duration otherwise, int least, int most) {
        return Duration.ofSeconds(number(key, (int) otherwise.toSeconds(), least, most));
    }

    /** An IP address and a port; names are not looked up. */
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
        problems.add(new Problem(position == null ? 1 : position.line(), key + ": " + text));
    }

    /** @throws BadConfigException if anything was wrong, in the order of lines */
    public void finish() throws BadConfigException {
        for (String key : toml.dottedKeySet()) {
            if (!known.contains(key)) {
                problem(key, "unknown key; known: " + String.join(", ", known));
            }
        }
        if (!problems.isEmpty()) {
            throw new BadConfigException(problems.stream()
                    .sorted((a, b) -> Integer.compare(a.line, b.line))
                    .map(each -> file + ":" + each.line + ": " + each.text)
                    .toList());
        }
    }

    /** A list of whole numbers, none twice. */
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

    private @Nullable Object value(String key) {
        known.add(key);
        return toml.get(key);
    }
}
