package org.cloister.ctl.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.protocol.audit.AuditSegmentHeader;
import picocli.CommandLine.Parameters;

/** Segments of an audit log that are given on the command line. */
final class AuditLogFiles {
    private static final Pattern SIGNER = Pattern.compile("signer-[a-z2-7]{52}\\.pem");

    @Parameters(
            paramLabel = "LOG",
            arity = "1..*",
            description = "The folder of an audit log, or segments of it, in any order.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before use
    private List<Path> files;

    /** Returns the segments, sorted by name within a folder. */
    List<Path> segments() throws IOException {
        List<Path> segments = new ArrayList<>();
        for (Path each : files) {
            if (Files.isDirectory(each)) {
                List<Path> inside = inside(each, AuditSegmentHeader.FILE);
                if (inside.isEmpty()) {
                    throw new IOException(each + ": want segments named " + AuditSegmentHeader.FILE
                            + ", have none; give the folder of an audit log");
                }
                segments.addAll(inside);
            } else {
                segments.add(each);
            }
        }
        return segments;
    }

    /** Returns the certificates beside the segments that the log's writer names as its signers. */
    List<Path> signers() throws IOException {
        List<Path> signers = new ArrayList<>();
        for (Path each : files) {
            if (Files.isDirectory(each)) {
                signers.addAll(inside(each, SIGNER));
            }
        }
        return signers;
    }

    private static List<Path> inside(Path folder, Pattern names) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file ->
                            names.matcher(String.valueOf(file.getFileName())).matches())
                    .sorted()
                    .toList();
        }
    }
}
