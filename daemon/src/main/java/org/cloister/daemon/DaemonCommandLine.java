package org.cloister.daemon;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/**
 * Command line of each daemon, {@code NAME [--check | --credentials] [FILE]}, and its errors at start. agentctl asks by
 * {@code --credentials} where to put a key and a certificate, so that only the daemon reads its configuration.
 *
 * @param name of the daemon
 * @param usual its configuration file unless another is named
 * @param missing what to do when a file that the configuration names does not exist
 */
public record DaemonCommandLine(String name, Path usual, String missing) {
    /** EX_CONFIG of sysexits.h: a restart does not repair a configuration. */
    private static final int BAD_CONFIG = 78;

    private static final int USAGE = 64;
    private static final int FAILED = 1;

    /** Files of an enrolled machine, as its configuration names them. */
    public record CredentialFiles(Path certificate, Path key, Path site) {
        String text() {
            return "certificate=" + certificate + "\nkey=" + key + "\nsite=" + site + "\n";
        }
    }

    /**
     * Reads a configuration file.
     *
     * @param <C> the configuration
     */
    @FunctionalInterface
    public interface ConfigLoader<C> {
        C load(Path file) throws IOException;
    }

    /**
     * Runs the daemon.
     *
     * @param <C> its configuration
     */
    @FunctionalInterface
    public interface Daemon<C> {
        /** Runs the daemon; returns when it has ended. */
        void run(C config) throws IOException, InterruptedException;
    }

    /** Reads the configuration and runs the daemon; with {@code --check}, only reads the configuration. */
    public <C> void main(String[] args, ConfigLoader<C> loading, Daemon<C> daemon) throws InterruptedException {
        JournalErrors.install();
        exit(run(args, loading, Optional.empty(), daemon));
    }

    /** Runs the daemon as above; with {@code --credentials}, only prints where its credentials are. */
    public <C> void main(
            String[] args, ConfigLoader<C> loading, Function<C, CredentialFiles> credentials, Daemon<C> daemon)
            throws InterruptedException {
        JournalErrors.install();
        exit(run(args, loading, Optional.of(credentials), daemon));
    }

    private static void exit(int status) {
        if (status != 0) {
            System.exit(status);
        }
    }

    <C> int run(
            String[] args,
            ConfigLoader<C> loading,
            Optional<Function<C, CredentialFiles>> credentials,
            Daemon<C> daemon)
            throws InterruptedException {
        boolean check = args.length > 0 && args[0].equals("--check");
        boolean list = credentials.isPresent() && args.length > 0 && args[0].equals("--credentials");
        int files = args.length - (check || list ? 1 : 0);
        if (files > 1 || (files == 1 && args[args.length - 1].startsWith("-"))) {
            System.err.println("usage: " + name
                    + (credentials.isPresent() ? " [--check | --credentials]" : " [--check]") + " [FILE]");
            return USAGE;
        }
        try {
            C config = loading.load(files == 1 ? Path.of(args[args.length - 1]) : usual);
            if (list) {
                System.out.print(credentials.orElseThrow().apply(config).text());
            } else if (!check) {
                daemon.run(config);
            }
            return 0;
        } catch (InvalidConfigException e) {
            e.problems().forEach(this::print);
            return BAD_CONFIG;
        } catch (IOException e) {
            print(text(e));
            return FAILED;
        }
    }

    private void print(Object problem) {
        System.err.println(name + ": error: " + problem);
    }

    /** Adds the reason where Java's message is only the file's name: the file is missing or not readable. */
    private String text(IOException e) {
        if (e instanceof NoSuchFileException) {
            return e.getMessage() + ": no such file; " + missing + ", or correct the configuration";
        }
        if (e instanceof AccessDeniedException) {
            return e.getMessage() + ": not readable; let user " + System.getProperty("user.name") + " read it";
        }
        return String.valueOf(e.getMessage());
    }
}
