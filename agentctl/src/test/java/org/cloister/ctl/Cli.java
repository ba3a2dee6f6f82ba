package org.cloister.ctl;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.preflight.machine.RecordedMachine;

/** Runs agentctl in this process, with a passphrase on a file descriptor. */
public final class Cli implements AutoCloseable {
    private final FileInputStream secret;
    private final String descriptor;
    private final Path profiles;

    /** Result of a run. */
    public record Result(int status, String out, String err) {}

    public Cli(Path folder, String passphrase) throws IOException {
        Path file = folder.resolve("passphrase-" + passphrase.hashCode());
        Files.writeString(file, passphrase + "\n");
        this.secret = new FileInputStream(file.toFile());
        this.descriptor = descriptor(file);
        this.profiles = folder.resolve("config/cloister");
    }

    public Result run(String... arguments) throws IOException {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = new Agentctl(RecordedMachine.parse("program none\n"), new ProfileStore(profiles, null))
                .commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
        return new Result(status, out.toString(), err.toString());
    }

    /** With {@code --secret-fd} at the end. */
    public Result runWithSecret(String... arguments) throws IOException {
        return run(Stream.concat(Stream.of(arguments), Stream.of("--secret-fd", descriptor))
                .toArray(String[]::new));
    }

    /** With the same passphrase for the key to drives. */
    public Result runWithSecrets(String... arguments) throws IOException {
        return runWithSecret(Stream.concat(Stream.of(arguments), Stream.of("--drive-secret-fd", descriptor))
                .toArray(String[]::new));
    }

    @Override
    public void close() throws IOException {
        secret.close();
    }

    /** Of a file that this process has open. */
    public static String descriptor(Path file) throws IOException {
        Path real = file.toRealPath();
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.filter(each -> isLinkTo(each, real))
                    .map(each -> String.valueOf(each.getFileName()))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static boolean isLinkTo(Path link, Path file) {
        try {
            return Files.readSymbolicLink(link).equals(file);
        } catch (IOException e) {
            // Closed meanwhile.
            return false;
        }
    }
}
