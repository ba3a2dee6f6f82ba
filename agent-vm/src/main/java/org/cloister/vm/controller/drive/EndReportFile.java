package org.cloister.vm.controller.drive;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.handover.VmEndReport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores on the drive why its last VM ended itself: one line with the time and the reason. The VM has no console, and
 * its journal is in memory, so it writes this before it ends, and the next opening reports it. Failures are logged:
 * neither an end nor an opening depends on the file.
 */
public final class EndReportFile {
    private static final Logger LOG = LoggerFactory.getLogger(EndReportFile.class);

    private static final int MAX_BYTES = 4096;
    private static final Pattern LINE = Pattern.compile("([0-9TZ:-]{20}) ([ -~]{1," + VmEndReport.MAX_REASON + "})\n");

    private final Path file;

    /** @param agentFolder agent-vm's own folder on the drive, which only root enters */
    public EndReportFile(Path agentFolder) {
        this.file = agentFolder.resolve("last-end");
    }

    /** Replaces the report. */
    public void write(VmEndReport report) {
        try {
            AtomicFile.replace(file, line(report));
        } catch (IOException e) {
            LOG.error("{}: the end report cannot be written: {}; the VM ends without it", file, e.toString());
        }
    }

    /** Returns the report; empty if the file is missing or has another form. */
    public Optional<VmEndReport> read() {
        try {
            // With the drive's key anything can be put here: a pipe would block, a link would lead elsewhere.
            if (!AtomicFile.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                return Optional.empty();
            }
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException("expected a regular file");
            }
            return Optional.of(parse(new String(AtomicFile.read(file, MAX_BYTES), StandardCharsets.ISO_8859_1)));
        } catch (IOException e) {
            LOG.warn("{}: not an end report, and ignored: {}", file, e.getMessage());
            return Optional.empty();
        }
    }

    /** Deletes the report that was delivered; one that replaced it stays for the next opening. */
    public void delete(VmEndReport delivered) {
        if (read().filter(delivered::equals).isEmpty()) {
            return;
        }
        try {
            Files.delete(file);
        } catch (IOException e) {
            LOG.warn("{}: the delivered end report cannot be deleted: {}", file, e.toString());
        }
    }

    private static byte[] line(VmEndReport report) {
        return (report.time().truncatedTo(ChronoUnit.SECONDS) + " " + report.reason() + "\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    private static VmEndReport parse(String text) throws IOException {
        Matcher line = LINE.matcher(text);
        if (!line.matches()) {
            throw new IOException("expected a time and one line of printable text, got " + text.length()
                    + " characters of another form");
        }
        try {
            return new VmEndReport(Instant.parse(line.group(1)), line.group(2));
        } catch (DateTimeException | IllegalArgumentException e) {
            throw new IOException("its time is not one of this era", e);
        }
    }
}
