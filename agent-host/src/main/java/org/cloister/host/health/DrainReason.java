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
 * Reason of a drain by agent-host, in Slurm's form: {@code cloister: WHAT (TIME until clean DIGEST)}, or {@code until
 * resumed}. DIGEST is a few digits of SHA-256 over all text before it: a reason that an administrator edited is not
 * ours any longer. All users can read it.
 *
 * @param text blanks, letters, digits and a few signs that no shell and no program of Slurm interprets, up to 160
 * @param since in whole seconds
 * @param manualResume whether only an administrator resumes the node
 */
public record DrainReason(String text, Instant since, boolean manualResume) {
    /** Replaces a reason of ours that Slurm has kept on a node in service; {@code agent-host-root} has it, too. */
    static final String REPLACEMENT = "not drained by agent-host";

    private static final int MAX_WHAT = 160;
    private static final int DIGEST_BYTES = 4;
    private static final String MARK = "cloister: ";
    private static final String SIGNS = "A-Za-z0-9 .,:;/_=+@-";
    private static final Pattern WHAT = Pattern.compile("[" + SIGNS + "]{1,160}");
    private static final Pattern FORM = Pattern.compile(
            "(cloister: ([" + SIGNS + "]{1,160}) \\(([0-9]{8}T[0-9]{6}Z) until (clean|resumed)) ([0-9a-f]{8})\\)");
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    /** @throws IllegalArgumentException if {@code what} contains any other character */
    public DrainReason {
        if (!WHAT.matcher(text).matches()) {
            throw new IllegalArgumentException("reason: want " + WHAT + ", have \"" + text + "\"");
        }
        since = Instant.ofEpochSecond(since.getEpochSecond());
    }

    /**
     * Makes a reason from any text.
     *
     * @param text any text; characters that are not permitted are removed or become underscores
     */
    static DrainReason of(String text, long nowMs, boolean stays) {
        String clean = text.strip().replaceAll("\\s+", " ").replaceAll("[^" + SIGNS + "]", "_");
        String some = clean.isEmpty() ? "no reason given" : clean;
        return new DrainReason(
                some.substring(0, Math.min(some.length(), MAX_WHAT)).strip(), Instant.ofEpochMilli(nowMs), stays);
    }

    /**
     * Parses Slurm's form.
     *
     * @param reason from Slurm
     * @return empty if it is not exactly one of ours
     */
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

    /** Returns Slurm's form. */
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
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }
}
