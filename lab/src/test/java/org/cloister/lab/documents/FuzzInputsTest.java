package org.cloister.lab.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Seeds of fuzz targets lie where Jazzer looks for them: in a folder of the target's class and method. */
class FuzzInputsTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root", ".."));
    private static final String SUFFIX = "Inputs";

    @Test
    void each_folder_of_seeds_has_its_target() throws IOException {
        List<String> orphans = new ArrayList<>();
        int folders = 0;
        for (Path module : children(ROOT)) {
            Path resources = module.resolve("src/test/resources");
            for (Path inputs : inputs(resources)) {
                Path target = module.resolve("src/test/java")
                        .resolve(resources.relativize(inputs).toString().replaceFirst(SUFFIX + "$", ".java"));
                String source = Files.exists(target) ? Files.readString(target) : "";
                for (Path method : children(inputs)) {
                    folders++;
                    if (!source.contains("void " + method.getFileName() + "(")) {
                        orphans.add(ROOT.relativize(method) + ": no such method in " + ROOT.relativize(target));
                    }
                }
            }
        }
        assertThat(folders).isPositive();
        assertThat(orphans).as(String.join("\n", orphans)).isEmpty();
    }

    private static List<Path> inputs(Path resources) throws IOException {
        if (!Files.isDirectory(resources)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(resources)) {
            return all.filter(path -> path.toString().endsWith("Fuzz" + SUFFIX)).toList();
        }
    }

    private static List<Path> children(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(Files::isDirectory).toList();
        }
    }
}
