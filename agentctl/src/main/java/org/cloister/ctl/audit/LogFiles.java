package org.cloister.ctl.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.protocol.audit.SegmentStart;
import picocli.CommandLine.Parameters;

/** The segments that a command is given. */
final class LogFiles {
    @Parameters(
            paramLabel = "LOG",
            arity = "1..*",
            description = "The folder of an audit log, or segments of it, in any order.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before use
    private List<Path> given;

    /** As they sort by name within a folder. */
    List<Path> segments() throws IOException {
        List<Path> segments = new ArrayList<>();
        for (Path each : given) {
            if (Files.isDirectory(each)) {
                List<Path> inside = segmentsOf(each);
                if (inside.isEmpty()) {
                    throw new IOException(each + ": want segments named " + SegmentStart.FILE
                            + ", have none; give the folder of an audit log");
                }
                segments.addAll(inside);
            } else {
                segments.add(each);
            }
        }
        return segments;
    }

    private static List<Path> segmentsOf(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> SegmentStart.FILE
                            .matcher(String.valueOf(file.getFileName()))
                            .matches())
                    .sorted()
                    .toList();
        }
    }
}
