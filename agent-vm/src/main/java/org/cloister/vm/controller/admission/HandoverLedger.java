package org.cloister.vm.controller.admission;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.Ticket;

/**
 * Records the slots that were handed over, and the number of hand-overs under the policy in force, in a folder on the
 * project's drive with one file per ticket that may have workers. A slot is spent in memory at once, and on the disk
 * before its hand-over is sent. Methods that read or write the disk are called by one thread, the others by another.
 */
public final class HandoverLedger {
    private static final String SUFFIX = ".spent";
    private static final String RELEASES = "releases";
    private static final String FORMAT = "cloister-vm-releases-v1";
    private static final Pattern LINE = Pattern.compile("(0|[1-9][0-9]{0,4}) [0-9a-f]{64}");
    private static final int MAX_RELEASES = 1024;

    private final Path folder;
    private final Map<String, Set<Integer>> spent;
    private long serial;
    private long released;
    /** The serial number on the disk; only the thread that writes uses it. */
    private long writtenSerial;

    private long writtenCount;

    /**
     * A slot that was spent.
     *
     * @param count of hand-overs under this policy, with this one
     */
    record SpentSlot(String ticket, int slot, String nonce, long policy, long count) {}

    private HandoverLedger(Path folder, Map<String, Set<Integer>> spent) {
        this.folder = folder;
        this.spent = spent;
    }

    /**
     * Opens the folder and reads its records.
     *
     * @param folder created if absent
     * @throws IOException also if a file in it is malformed: it would be unknown which slots are spent
     */
    public static HandoverLedger open(Path folder) throws IOException {
        Files.createDirectories(folder);
        Map<String, Set<Integer>> spent = new HashMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(SUFFIX)).toList()) {
                String name = String.valueOf(file.getFileName());
                String ticket = name.substring(0, name.length() - SUFFIX.length());
                if (!Ticket.ID.matcher(ticket).matches()) {
                    throw new IOException(file + ": want a ticket's id before " + SUFFIX);
                }
                spent.put(ticket, slots(file));
            }
        }
        HandoverLedger ledger = new HandoverLedger(folder, spent);
        ledger.readReleases();
        return ledger;
    }

    public boolean isSpent(String ticket, int slot) {
        return spent.getOrDefault(ticket, Set.of()).contains(slot);
    }

    /** Returns the number of hand-overs under the policy with this serial number. */
    public long handoverCount(long policy) {
        return policy == serial ? released : 0;
    }

    /**
     * Spends a slot in memory.
     *
     * @param nonce of its hand-over, its SHA-256 in hex, as in a receipt
     * @param policy serial number of the policy in force
     * @return what is to be written
     */
    SpentSlot spend(String ticket, int slot, String nonce, long policy) {
        released = handoverCount(policy) + 1;
        serial = policy;
        spent.computeIfAbsent(ticket, id -> new HashSet<>()).add(slot);
        return new SpentSlot(ticket, slot, nonce, policy, released);
    }

    /** Takes back a slot that could not be written: nothing was handed over. It remains counted. */
    void restore(SpentSlot slot) {
        spent.computeIfPresent(slot.ticket(), (ticket, slots) -> {
            slots.remove(slot.slot());
            return slots;
        });
    }

    /**
     * Writes spent slots of one ticket; they are on the disk on return.
     *
     * @throws IOException if none was written
     */
    void write(List<SpentSlot> slots) throws IOException {
        // Counted first: a hand-over that then fails uses up one of many.
        writeCount(slots.get(slots.size() - 1));
        Path file = folder.resolve(slots.get(0).ticket() + SUFFIX);
        if (!Files.exists(file)) {
            AtomicFile.create(file, new byte[0]);
        }
        String lines = slots.stream()
                .map(each -> each.slot() + " " + each.nonce() + "\n")
                .collect(Collectors.joining());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.APPEND)) {
            append(channel, ByteBuffer.wrap(lines.getBytes(StandardCharsets.US_ASCII)));
        }
    }

    /** The number of one policy never falls, whatever the order of its tickets. */
    private void writeCount(SpentSlot newest) throws IOException {
        if (newest.policy() == writtenSerial && newest.count() <= writtenCount) {
            return;
        }
        AtomicFile.replace(
                folder.resolve(RELEASES),
                JsonNodeFactory.instance
                        .objectNode()
                        .put("format", FORMAT)
                        .put("policy", newest.policy())
                        .put("released", newest.count())
                        .toString()
                        .getBytes(StandardCharsets.UTF_8));
        writtenSerial = newest.policy();
        writtenCount = newest.count();
    }

    /** Appends all lines or nothing, since the next line follows them. */
    private static void append(FileChannel channel, ByteBuffer lines) throws IOException {
        long before = channel.size();
        try {
            while (lines.hasRemaining()) {
                channel.write(lines);
            }
            channel.force(true);
        } catch (IOException e) {
            try {
                channel.truncate(before);
            } catch (IOException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
    }

    /** Removes a ticket that has ended from memory; none of its workers is accepted any more. */
    void forget(String ticket) {
        spent.remove(ticket);
    }

    /** Deletes the file of a ticket that has ended. */
    void delete(String ticket) throws IOException {
        Files.deleteIfExists(folder.resolve(ticket + SUFFIX));
    }

    /**
     * Reads the spent slots. Removes an incomplete last line: its hand-over never took place, since a hand-over is sent
     * only after its line is complete.
     */
    private static Set<Integer> slots(Path file) throws IOException {
        String content = Files.readString(file, StandardCharsets.US_ASCII);
        int complete = content.lastIndexOf('\n') + 1;
        if (complete < content.length()) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(complete);
                channel.force(true);
            }
        }
        Set<Integer> slots = new HashSet<>();
        List<String> lines = content.substring(0, complete).lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            if (!LINE.matcher(lines.get(i)).matches()) {
                throw new IOException(file + ":" + (i + 1) + ": want a slot and a digest, have another line");
            }
            slots.add(Integer.parseInt(lines.get(i).substring(0, lines.get(i).indexOf(' '))));
        }
        return slots;
    }

    private void readReleases() throws IOException {
        Path file = folder.resolve(RELEASES);
        if (!Files.exists(file)) {
            return;
        }
        try {
            StrictJson json = StrictJson.read(Files.readAllBytes(file), MAX_RELEASES);
            json.requireFormat(FORMAT);
            serial = json.number("policy", 1, ProjectPolicy.MAX_SERIAL);
            released = json.number("released", 0, ProjectPolicy.MAX_SERIAL);
            json.requireNothingElse();
        } catch (MalformedException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }
}
