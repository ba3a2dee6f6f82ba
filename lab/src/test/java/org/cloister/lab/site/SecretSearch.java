package org.cloister.lab.site;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.interfaces.ECPrivateKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.lab.Command;

/** Where on this machine private keys stand: as they are, in hex or in base64, alone or within something. */
public final class SecretSearch implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    /** Of each key, from its first one: less than a line of PEM shows of it. */
    private static final int BYTES = 12;

    private static final int BASE64_BITS = 6;

    private final String pattern;
    /** grep's, whose own arguments are looked at, too. */
    private final Path file;

    public SecretSearch(List<ECPrivateKey> keys) throws IOException {
        List<String> forms = new ArrayList<>();
        keys.forEach(key -> forms.addAll(forms(begin(key))));
        this.pattern = String.join("|", forms);
        this.file = Files.writeString(Files.createTempFile("pattern", ""), pattern + "\n");
    }

    private static byte[] begin(ECPrivateKey key) {
        int size = (key.getParams().getOrder().bitLength() + Byte.SIZE - 1) / Byte.SIZE;
        byte[] number = key.getS().toByteArray();
        byte[] whole = new byte[size];
        int length = Math.min(size, number.length);
        System.arraycopy(number, number.length - length, whole, size - length, length);
        return Arrays.copyOf(whole, BYTES);
    }

    private static List<String> forms(byte[] begin) {
        String hex = HexFormat.of().formatHex(begin);
        List<String> forms = new ArrayList<>(List.of(hex.replaceAll("..", "\\\\x$0"), "(?i:" + hex + ")"));
        for (int before = 0; before < 3; before++) {
            byte[] within = new byte[before + BYTES];
            System.arraycopy(begin, 0, within, before, BYTES);
            String text = Base64.getEncoder().withoutPadding().encodeToString(within);
            int from = (before * Byte.SIZE + BASE64_BITS - 1) / BASE64_BITS;
            forms.add(Pattern.quote(text.substring(from, within.length * Byte.SIZE / BASE64_BITS)));
        }
        return forms;
    }

    public Set<Path> files(List<Path> folders) throws IOException {
        List<String> argv = new ArrayList<>(
                List.of("env", "LC_ALL=C", "grep", "-r", "-a", "-l", "-s", "-P", "-f", file.toString()));
        folders.forEach(folder -> argv.add(folder.toString()));
        Set<Path> found = new TreeSet<>();
        Command.of(argv).within(LIMIT).run().out().lines().map(Path::of).forEach(found::add);
        return found;
    }

    /** Of all processes, their arguments and their environment. */
    public Set<Path> processes() throws IOException {
        Pattern wanted = Pattern.compile(pattern);
        Set<Path> found = new TreeSet<>();
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            for (Path process : all.filter(each -> each.getFileName().toString().matches("\\d+"))
                    .toList()) {
                for (String what : List.of("cmdline", "environ")) {
                    if (wanted.matcher(read(process.resolve(what))).find()) {
                        found.add(process.resolve(what));
                    }
                }
            }
        }
        return found;
    }

    private static String read(Path file) throws IOException {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return "";
        } catch (AccessDeniedException e) {
            // In a container its first process may be another's, whom even root here does not see.
            return "";
        } catch (IOException e) {
            // Of a process that has just ended.
            if (String.valueOf(e.getMessage()).contains("No such process")) {
                return "";
            }
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        Files.delete(file);
    }
}
