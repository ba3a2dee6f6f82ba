package org.cloister.lab.documents;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Names of the build's modules, as the parent pom lists them. */
final class BuildModules {
    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

    private BuildModules() {}

    static List<String> of(Path root) throws IOException {
        return MODULE.matcher(Files.readString(root.resolve("pom.xml")))
                .results()
                .map((MatchResult match) -> match.group(1))
                .toList();
    }
}
