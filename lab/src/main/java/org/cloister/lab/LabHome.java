package org.cloister.lab;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Root folder of all labs: {@code labs/NAME} while a lab is up, {@code images} and {@code cache} for files that are
 * expensive to make again.
 */
public record LabHome(Path root) {
    private static final Path DEFAULT = Path.of("/var/lib/cloister-lab");

    /** Returns {@code CLOISTER_LAB_DIR}, or {@code /var/lib/cloister-lab}. */
    public static LabHome fromEnvironment() {
        String set = System.getenv("CLOISTER_LAB_DIR");
        return new LabHome(set == null || set.isEmpty() ? DEFAULT : Path.of(set).toAbsolutePath());
    }

    public Path folder(LabName lab) {
        return root.resolve("labs").resolve(lab.text());
    }

    public Path cache(String what) {
        return root.resolve("cache").resolve(what);
    }

    /** Returns the image that {@code lab/setup} built last of this variant. */
    public Path image(String variant) throws LabException {
        Path link = root.resolve("images").resolve(variant);
        if (!Files.exists(link)) {
            throw new LabException("guest image: no " + variant + " image at " + link, "run lab/setup");
        }
        return link;
    }

    /** Returns the image to compare with, which nothing here makes: somebody linked it as {@code before}. */
    public Optional<Path> earlierImage() throws IOException {
        Path link = root.resolve("images").resolve("before");
        return Files.exists(link) ? Optional.of(link.toRealPath()) : Optional.empty();
    }

    public List<LabName> labs() throws IOException {
        Path labs = root.resolve("labs");
        if (!Files.isDirectory(labs)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(labs)) {
            return folders.map(folder -> new LabName(folder.getFileName().toString()))
                    .sorted((a, b) -> a.text().compareTo(b.text()))
                    .toList();
        }
    }

    /** Removes a folder with all below it; a missing folder is no error. */
    public static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) throws IOException {
                if (failure != null) {
                    throw failure;
                }
                Files.delete(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
