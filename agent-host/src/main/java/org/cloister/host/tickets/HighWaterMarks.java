package org.cloister.host.tickets;

import java.math.BigInteger;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.ticket.Ticket;

/**
 * High-water marks of a project on this host, none of which may decrease.
 *
 * @param ticketEpoch of the tickets for which the host has started a VM; 0 if none
 * @param openingEpoch likewise of the openings
 * @param number of the newest document
 * @param document id of its payload: another one with that number is a fork
 * @param approval its number
 * @param lists numbers of the revocation lists of that document's owners, by the owner's key id
 */
record HighWaterMarks(
        String project,
        long ticketEpoch,
        long openingEpoch,
        int number,
        String document,
        long approval,
        Map<String, BigInteger> lists) {
    /** Maximum of owners in a document. */
    static final int MAX_LISTS = 16;
    /** Maximum length of a line. */
    static final int MAX_BYTES = 170 + MAX_LISTS * 103;

    private static final String ID = "[a-z2-7]{52}";
    private static final int MAX_NUMBER = 1000;
    /** Form of a list's number, which has up to 159 bits. */
    private static final String LIST = " " + ID + ":(?:0|[1-9][0-9]{0,47})";

    private static final Pattern LIST_PARTS = Pattern.compile("(" + ID + "):([0-9]+)");

    private static final String EPOCH = "(0|[1-9][0-9]{0,15})";
    private static final Pattern LINE = Pattern.compile("(" + ID + ") " + EPOCH + " " + EPOCH + " (0|[1-9][0-9]{0,3}) ("
            + ID + ") ([1-9][0-9]{0,18})((?:" + LIST + "){0," + MAX_LISTS + "})");

    HighWaterMarks {
        lists = Map.copyOf(lists);
    }

    /**
     * Parses a line.
     *
     * @return empty for text that {@link #line} does not produce
     */
    static Optional<HighWaterMarks> parse(String line) {
        Matcher form = LINE.matcher(line);
        if (!form.matches()
                || !ProjectDocument.ID.matcher(form.group(1)).matches()
                || !ProjectDocument.ID.matcher(form.group(5)).matches()) {
            return Optional.empty();
        }
        Map<String, BigInteger> lists = new TreeMap<>();
        Matcher list = LIST_PARTS.matcher(form.group(7));
        while (list.find()) {
            if (lists.put(list.group(1), new BigInteger(list.group(2))) != null) {
                return Optional.empty();
            }
        }
        try {
            HighWaterMarks read = new HighWaterMarks(
                    form.group(1),
                    Long.parseLong(form.group(2)),
                    Long.parseLong(form.group(3)),
                    Integer.parseInt(form.group(4)),
                    form.group(5),
                    Long.parseLong(form.group(6)),
                    lists);
            return read.ticketEpoch <= Ticket.MAX_COUNT
                            && read.openingEpoch <= Ticket.MAX_COUNT
                            && read.number <= MAX_NUMBER
                    ? Optional.of(read)
                    : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    String line() {
        StringBuilder line = new StringBuilder(
                String.join(" ", project, ticketEpoch + " " + openingEpoch, Integer.toString(number), document) + " "
                        + approval);
        new TreeMap<>(lists)
                .forEach((owner, list) ->
                        line.append(' ').append(owner).append(':').append(list));
        return line.toString();
    }

    HighWaterMarks withEpoch(long next) {
        return new HighWaterMarks(project, next, openingEpoch, number, document, approval, lists);
    }

    HighWaterMarks withOpened(long next) {
        return new HighWaterMarks(project, ticketEpoch, next, number, document, approval, lists);
    }

    /** Returns the number of an owner's list; -1 if none was seen. */
    BigInteger list(String owner) {
        return lists.getOrDefault(owner, BigInteger.ONE.negate());
    }
}
