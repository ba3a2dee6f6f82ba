package org.cloister.vm.controller.receipts;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.receipt.ReceiptSlot;
import org.cloister.protocol.ticket.Ticket;

/**
 * Drafts on the project's drive: one file per ticket, and beside it one for each of its slots of which a part has
 * arrived. Changes are on the disk when a call returns. Not thread-safe.
 */
final class ReceiptDraftFolder {
    private static final String DRAFT = ".draft";
    private static final Pattern SLOT = Pattern.compile("(" + Ticket.ID.pattern() + ")[.](0|[1-9][0-9]{0,3})");
    /** Limit of a slot's file: evidence with its attachments in base64, and the other parts. */
    private static final int MAX_SLOT = 1 << 20;

    private final Path folder;
    private final Map<String, ReceiptDraft> drafts;

    private ReceiptDraftFolder(Path folder, Map<String, ReceiptDraft> drafts) {
        this.folder = folder;
        this.drafts = drafts;
    }

    /**
     * Opens the folder and reads its drafts.
     *
     * @param folder created if absent
     * @throws IOException also if a draft cannot be read: a signer's statement would be lost
     */
    static ReceiptDraftFolder open(Path folder) throws IOException {
        Files.createDirectories(folder);
        Map<String, ReceiptDraft> drafts = new TreeMap<>();
        for (Path file : files(folder)) {
            if (file.toString().endsWith(DRAFT)) {
                ReceiptDraft draft = read(file);
                drafts.put(draft.ticket(), draft);
            }
        }
        ReceiptDraftFolder opened = new ReceiptDraftFolder(folder, drafts);
        opened.sweep();
        return opened;
    }

    Optional<ReceiptDraft> find(String ticket) {
        return Optional.ofNullable(drafts.get(ticket));
    }

    List<ReceiptDraft> all() {
        return List.copyOf(drafts.values());
    }

    void write(ReceiptDraft draft) throws IOException {
        AtomicFile.replace(folder.resolve(draft.ticket() + DRAFT), draft.write());
        drafts.put(draft.ticket(), draft);
    }

    ReceiptSlot slot(String ticket, int slot) throws IOException {
        Path file = slotFile(ticket, slot);
        try {
            StrictJson json = StrictJson.read(AtomicFile.read(file, MAX_SLOT), MAX_SLOT, MAX_SLOT);
            ReceiptSlot read = ReceiptSlot.read(json);
            if (read.slot() != slot) {
                throw new MalformedException("slot: want the file's, have " + read.slot());
            }
            return read;
        } catch (NoSuchFileException e) {
            return ReceiptSlot.empty(slot);
        } catch (MalformedException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    void write(String ticket, ReceiptSlot slot) throws IOException {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        slot.write(json);
        AtomicFile.replace(slotFile(ticket, slot.slot()), json.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Deletes the draft first: slot files without a draft are deleted by the sweep. */
    void remove(String ticket) throws IOException {
        Files.deleteIfExists(folder.resolve(ticket + DRAFT));
        drafts.remove(ticket);
        sweep();
    }

    private void sweep() throws IOException {
        for (Path file : files(folder)) {
            var slot = SLOT.matcher(String.valueOf(file.getFileName()));
            if (slot.matches() && !drafts.containsKey(slot.group(1))) {
                Files.deleteIfExists(file);
            }
        }
    }

    private Path slotFile(String ticket, int slot) {
        return folder.resolve(ticket + "." + slot);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        }
    }

    private static ReceiptDraft read(Path file) throws IOException {
        try {
            ReceiptDraft draft = ReceiptDraft.read(AtomicFile.read(file, ReceiptDraft.MAX_BYTES));
            if (!file.endsWith(draft.ticket() + DRAFT)) {
                throw new MalformedException("ticket: want the file's name, have " + draft.ticket());
            }
            return draft;
        } catch (MalformedException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }
}
