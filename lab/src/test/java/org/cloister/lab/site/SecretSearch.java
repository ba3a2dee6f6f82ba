package org.cloister.lab.site;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.cloister.luks.leak.SecretTraces;

/** Finds private keys on this machine, or halves of them, in any form, alone or within other data. */
public final class SecretSearch {
    private final SecretTraces traces = new SecretTraces();

    /** @param name of whose it is */
    public void add(String name, ECPrivateKey key) {
        int size = (key.getParams().getOrder().bitLength() + Byte.SIZE - 1) / Byte.SIZE;
        byte[] number = key.getS().toByteArray();
        byte[] whole = new byte[size];
        int length = Math.min(size, number.length);
        System.arraycopy(number, number.length - length, whole, size - length, length);
        traces.add(name, whole);
        Arrays.fill(number, (byte) 0);
        Arrays.fill(whole, (byte) 0);
    }

    public Set<Path> files(List<Path> folders) throws IOException {
        Set<Path> found = new TreeSet<>();
        for (Path folder : folders) {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    if (attributes.isRegularFile() && has(file)) {
                        found.add(file);
                    }
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException why) throws IOException {
                    if (why instanceof NoSuchFileException) {
                        return FileVisitResult.CONTINUE;
                    }
                    throw why;
                }
            });
        }
        return found;
    }

    /** Of all processes, their arguments and their environment. */
    public Set<Path> processes() throws IOException {
        Set<Path> found = new TreeSet<>();
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            for (Path process : all.filter(each -> each.getFileName().toString().matches("\\d+"))
                    .toList()) {
                for (String what : List.of("cmdline", "environ")) {
                    if (has(process.resolve(what))) {
                        found.add(process.resolve(what));
                    }
                }
            }
        }
        return found;
    }

    private boolean has(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return !traces.in(in).isEmpty();
        } catch (NoSuchFileException e) {
            return false;
        } catch (AccessDeniedException e) {
            // In a container its first process may be another's, whom even root here does not see.
            if (file.startsWith("/proc")) {
                return false;
            }
            throw e;
        } catch (IOException e) {
            // Of a process that has just ended.
            if (String.valueOf(e.getMessage()).contains("No such process")) {
                return false;
            }
            throw e;
        }
    }
}
