package org.cloister.daemon;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * {@code NAME [--check] [FILE]}: how each daemon is called, and how it says why it does not begin.
 *
 * @param name of the daemon
 * @param usual where its configuration lies unless a file is named
 * @param missing what to do when a file that the configuration names is not there
 */
public record DaemonCommandLine(String name, Path usual, String missing) {
    /** sysexits.h: restarting does not mend a configuration. */
    private static final int BAD_CONFIG = 78;

    private static final int USAGE = 64;
    private static final int FAILED = 1;

    /** @param <C> what the file says */
    @FunctionalInterface
    public interface ConfigLoader<C> {
        C load(Path file) throws IOException;
    }

    /** @param <C> what its file says */
    @FunctionalInterface
    public interface Daemon<C> {
        /** Returns when it has ended. */
        void run(C config) throws IOException, InterruptedException;
    }

    /** With {@code --check} the configuration is read, and no more. */
    public <C> void main(String[] args, ConfigLoader<C> loading, Daemon<C> daemon) throws InterruptedException {
        boolean check = args.length > 0 && args[0].equals("--check");
        int files = args.length - (check ? 1 : 0);
        if (files > 1 || (files == 1 && args[args.length - 1].startsWith("-"))) {
            say("want " + name + " [--check] [FILE]");
            System.exit(USAGE);
        }
        try {
            C config = loading.load(files == 1 ? Path.of(args[args.length - 1]) : usual);
            if (!check) {
                daemon.run(config);
            }
        } catch (InvalidConfigException e) {
            e.problems().forEach(this::say);
            System.exit(BAD_CONFIG);
        } catch (IOException e) {
            say(text(e));
            System.exit(FAILED);
        }
    }

    private void say(Object problem) {
        System.err.println(name + ": error: " + problem);
    }

    /** Java says the file's name alone when one is missing or closed to us. */
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
