package org.cloister.host.health;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A reason that we drained this node for, as Slurm has it: {@code cloister: WHAT (TIME until clean DIGEST)}, or
 * {@code until resumed}. A few digits of SHA-256 over all that stands before them: a reason in which an administrator
 * changed a letter is his and no longer ours. All users may read it.
 *
 * @param text blanks, letters, digits and a few signs that no shell and no program of Slurm's takes for more, up to 160
 * @param since in seconds
 * @param manualResume only an administrator resumes the node
 */
public record DrainReason(String text, Instant since, boolean manualResume) {
    private static final int MAX_WHAT = 160;
    private static final int DIGEST_BYTES = 4;
    private static final String MARK = "cloister: ";
    private static final String SIGNS = "A-Za-z0-9 .,:;/_=+@-";
    private static final Pattern WHAT = Pattern.compile("[" + SIGNS + "]{1,160}");
    private static final Pattern FORM = Pattern.compile(
            "(cloister: ([" + SIGNS + "]{1,160}) \\(([0-9]{8}T[0-9]{6}Z) until (clean|resumed)) ([0-9a-f]{8})\\)");
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    /** @throws IllegalArgumentException if {@code what} has a sign that is none of those */
    public DrainReason {
        if (!WHAT.matcher(text).matches()) {
            throw new IllegalArgumentException("reason: want " + WHAT + ", have \"" + text + "\"");
        }
        since = Instant.ofEpochSecond(since.getEpochSecond());
    }

    /** @param text anybody's; what does not fit is left out or becomes an underscore */
    static DrainReason of(String text, long nowMs, boolean stays) {
        String clean = text.strip().replaceAll("\\s+", " ").replaceAll("[^" + SIGNS + "]", "_");
        String some = clean.isEmpty() ? "no reason given" : clean;
        return new DrainReason(
                some.substring(0, Math.min(some.length(), MAX_WHAT)).strip(), Instant.ofEpochMilli(nowMs), stays);
    }

    /** @param reason as Slurm has it; empty if it is not exactly one of ours */
    public static Optional<DrainReason> parse(String reason) {
        Matcher form = FORM.matcher(reason);
        if (!form.matches() || !digest(form.group(1)).equals(form.group(5))) {
            return Optional.empty();
        }
        try {
            return Optional.of(new DrainReason(
                    form.group(2),
                    Instant.from(TIME.parse(form.group(3))),
                    form.group(4).equals("resumed")));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    /** As Slurm has it. */
    @Override
    public String toString() {
        String text = MARK + this.text + " (" + TIME.format(since) + " until " + (manualResume ? "resumed" : "clean");
        return text + " " + digest(text) + ")";
    }

    private static String digest(String text) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(sum, 0, DIGEST_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256: want it in every Java, have none", e);
        }
    }
}
