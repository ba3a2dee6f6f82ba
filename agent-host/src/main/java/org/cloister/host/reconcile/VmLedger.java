package org.cloister.host.reconcile;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.daemon.ProcessAbort;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ledger of this host's VMs and of the slots that had one. Changes are on disk before a call returns. Any thread may
 * call; one process at a time may open it. A call that throws {@link IOException} has changed nothing.
 */
public final class VmLedger implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VmLedger.class);
    /** Maximum of entries; a host has fewer CPUs. */
    private static final int MAX_ENTRIES = 4096;

    private static final int MAX_SPENT = 1 << 16;
    /** Number of lines after which the file is rewritten. */
    private static final int MAX_LINES = 2000;

    private final LedgerJournal journal;
    /** Entries by UUID. */
    private final Map<String, VmLedgerEntry> entries = new LinkedHashMap<>();
    /** Spent slots by ticket and slot, oldest first. */
    private final Map<String, SpentSlot> spent = new LinkedHashMap<>();

    private VmLedger(LedgerJournal journal) {
        this.journal = journal;
    }

    /** Opens the ledger for a short-lived process. */
    public static VmLedger open(Path file) throws IOException {
        return open(file, why -> {});
    }

    /**
     * Opens the ledger.
     *
     * @param fatal ends the process when it is unknown whether a change is on disk: otherwise no VM could be ended any
     *     longer
     * @throws IOException if it cannot be read or written, another process has it, or a complete line does not parse
     */
    public static VmLedger open(Path file, ProcessAbort fatal) throws IOException {
        LedgerJournal journal = LedgerJournal.open(file, fatal);
        try {
            VmLedger ledger = new VmLedger(journal);
            journal.read().forEach(ledger::apply);
            ledger.rewriteOnOpen();
            return ledger;
        } catch (IOException e) {
            journal.close();
            throw e;
        }
    }

    /** Rewrites the file. On a full disk the ledger continues with the old one, as the removal of VMs frees space. */
    private void rewriteOnOpen() throws IOException {
        try {
            journal.rewrite(lines());
        } catch (IOException e) {
            LOG.warn("the ledger cannot be rewritten: {}", e.getMessage());
            journal.continueAfterRead();
        }
    }

    public synchronized List<VmLedgerEntry> entries() {
        return List.copyOf(entries.values());
    }

    public synchronized Optional<VmLedgerEntry> entry(String uuid) {
        return Optional.ofNullable(entries.get(uuid));
    }

    /** Returns whether a slot of the ticket has or had a VM here. */
    public synchronized boolean hasTicket(String ticket) {
        return entries.values().stream()
                        .anyMatch(entry -> entry.owner().ticket().equals(ticket))
                || spent.values().stream().anyMatch(each -> each.ticket().equals(ticket));
    }

    /**
     * Claims a slot; called before anything of the VM is created.
     *
     * @throws StartFailed if the slot has or had another VM, or a name is in use
     */
    public synchronized void claim(VmLedgerEntry entry) throws IOException {
        ResourceOwner owner = entry.owner();
        String subject = "ticket " + owner.ticket() + " slot " + owner.slot() + ": ";
        SpentSlot before = spent.get(SpentSlot.key(owner.ticket(), owner.slot()));
        if (before != null && entry.claimedMs() - before.endedMs() < SpentSlot.KEPT_MS) {
            throw refused(
                    subject + "the slot was used on this host; its VM ended at "
                            + Instant.ofEpochMilli(before.endedMs()),
                    "submit the job again, which makes a new ticket");
        }
        for (VmLedgerEntry other : entries.values()) {
            requireApart(subject, owner, other.owner());
        }
        if (entries.size() >= MAX_ENTRIES) {
            throw refused(
                    subject + "this host has " + entries.size() + " VMs and may have " + MAX_ENTRIES,
                    "agentctl host ledger shows those that do not end");
        }
        record(new JournalRecord.Put(entry));
    }

    private static void requireApart(String subject, ResourceOwner owner, ResourceOwner other) throws StartFailed {
        if (other.uuid().equals(owner.uuid())
                || (other.ticket().equals(owner.ticket()) && other.slot() == owner.slot())) {
            throw refused(
                    subject + "the slot has the VM " + other.uuid() + " of job " + other.globalJob() + " already",
                    "start one step for each node of the job, and only once");
        }
        for (ResourceKind part : ResourceKind.values()) {
            if (part.nameOf(owner).equals(part.nameOf(other))) {
                throw refused(
                        subject + "VM " + other.uuid() + " has the same name " + part.nameOf(owner),
                        "submit the job again, which makes a new ticket");
            }
        }
    }

    private static StartFailed refused(String text, String hint) {
        return new StartFailed(VmRunCode.REFUSED, text, hint);
    }

    /**
     * Records a start step before it runs.
     *
     * @return false if the VM is ending or has ended: nothing of it may be created any longer
     */
    public synchronized boolean recordStep(String uuid, VmStartStep step) throws IOException {
        VmLedgerEntry entry = entries.get(uuid);
        if (entry == null || entry.isEnding()) {
            return false;
        }
        if (!step.isNextAfter(entry.step())) {
            throw new IllegalStateException("VM " + uuid + ": want what follows " + entry.step() + ", have " + step);
        }
        record(new JournalRecord.Put(entry.at(step)));
        return true;
    }

    /**
     * Records the end of a VM.
     *
     * @return false if it is ending or has ended: the first reason is kept
     */
    public synchronized boolean recordEnd(String uuid, VmTermination end) throws IOException {
        VmLedgerEntry entry = entries.get(uuid);
        if (entry == null || entry.isEnding()) {
            return false;
        }
        record(new JournalRecord.Put(entry.ending(end)));
        return true;
    }

    /** Adds a VM that was found without an entry. */
    synchronized void adopt(VmLedgerEntry entry) throws IOException {
        if (!entries.containsKey(entry.owner().uuid())) {
            record(new JournalRecord.Put(entry));
        }
    }

    /** Deletes the entry of a VM whose resources were all observed to be gone. */
    synchronized void forget(String uuid, long nowMs) throws IOException {
        if (entries.containsKey(uuid)) {
            record(new JournalRecord.Drop(uuid, nowMs));
        }
    }

    private void record(JournalRecord line) throws IOException {
        journal.append(line);
        apply(line);
        if (journal.lines() >= MAX_LINES) {
            try {
                journal.rewrite(lines());
            } catch (IOException e) {
                LOG.warn("the ledger cannot be rewritten and grows: {}", e.getMessage());
            }
        }
    }

    private void apply(JournalRecord line) {
        if (line instanceof JournalRecord.Put put) {
            entries.put(put.entry().owner().uuid(), put.entry());
        } else if (line instanceof JournalRecord.SpentSlotEntry spentSlot) {
            markSpent(spentSlot.spent());
        } else if (line instanceof JournalRecord.Drop drop) {
            VmLedgerEntry removed = entries.remove(drop.uuid());
            if (removed != null) {
                markSpent(
                        new SpentSlot(removed.owner().ticket(), removed.owner().slot(), drop.atMs()));
            }
        }
    }

    private void markSpent(SpentSlot each) {
        spent.remove(each.key());
        spent.put(each.key(), each);
        Set<String> old = new HashSet<>();
        for (SpentSlot other : spent.values()) {
            if (other.endedMs() > each.endedMs() - SpentSlot.KEPT_MS && spent.size() - old.size() <= MAX_SPENT) {
                break;
            }
            old.add(other.key());
        }
        old.forEach(spent::remove);
    }

    private List<JournalRecord> lines() {
        List<JournalRecord> lines = new ArrayList<>();
        spent.values().forEach(each -> lines.add(new JournalRecord.SpentSlotEntry(each)));
        entries.values().forEach(each -> lines.add(new JournalRecord.Put(each)));
        return lines;
    }

    @Override
    public synchronized void close() throws IOException {
        journal.close();
    }
}
