package org.cloister.host.ledger;

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
import org.cloister.daemon.Fatal;
import org.cloister.host.vm.VmOwner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The VMs of this host, and which tickets had theirs: a change is on disk before a call returns. Any thread may call; of one
 * process at a time. Whatever throws {@link IOException} has changed nothing.
 */
public final class Ledger implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Ledger.class);
    /** A host has fewer CPUs. */
    private static final int MAX_ENTRIES = 4096;

    private static final int MAX_SPENT = 1 << 16;
    /** Lines after which the file is written anew. */
    private static final int MAX_LINES = 2000;

    private final Journal journal;
    /** By UUID. */
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    /** By place, oldest first. */
    private final Map<String, Spent> spent = new LinkedHashMap<>();

    private Ledger(Journal journal) {
        this.journal = journal;
    }

    /** For a process that ends soon anyway. */
    public static Ledger open(Path file) throws IOException {
        return open(file, why -> {});
    }

    /**
     * @param fatal ends the process when a change may be on disk or not: without that, no VM would end any more
     * @throws IOException if it cannot be read or written, another process has it, or a line that is whole does not parse
     */
    public static Ledger open(Path file, Fatal fatal) throws IOException {
        Journal journal = Journal.open(file, fatal);
        try {
            Ledger ledger = new Ledger(journal);
            journal.read().forEach(ledger::apply);
            ledger.tidy();
            return ledger;
        } catch (IOException e) {
            journal.close();
            throw e;
        }
    }

    /** On a full disk it goes on as it is: to take VMs away makes room. */
    private void tidy() throws IOException {
        try {
            journal.rewrite(lines());
        } catch (IOException e) {
            LOG.warn("the ledger is not written anew: {}", e.getMessage());
            journal.continueAfterRead();
        }
    }

    public synchronized List<Entry> entries() {
        return List.copyOf(entries.values());
    }

    public synchronized Optional<Entry> entry(String uuid) {
        return Optional.ofNullable(entries.get(uuid));
    }

    /** Whether a place of the ticket has a VM here, or had one. */
    public synchronized boolean knows(String ticket) {
        return entries.values().stream()
                        .anyMatch(entry -> entry.owner().ticket().equals(ticket))
                || spent.values().stream().anyMatch(each -> each.ticket().equals(ticket));
    }

    /** Before anything is made of a VM. */
    public synchronized void claim(Entry entry) throws ClaimRefused, IOException {
        VmOwner owner = entry.owner();
        String subject = "ticket " + owner.ticket() + " slot " + owner.slot() + ": claimed: ";
        Spent before = spent.get(Spent.key(owner.ticket(), owner.slot()));
        if (before != null && entry.claimedMs() - before.endedMs() < Spent.KEPT_MS) {
            throw new ClaimRefused(subject + "want a slot that had no VM here, have one whose VM ended at "
                    + Instant.ofEpochMilli(before.endedMs()) + "; submit the job again, which makes a new ticket");
        }
        for (Entry other : entries.values()) {
            requireApart(subject, owner, other.owner());
        }
        if (entries.size() >= MAX_ENTRIES) {
            throw new ClaimRefused(subject + "want fewer than " + MAX_ENTRIES + " VMs on this host, have "
                    + entries.size() + "; see agentctl host ledger for those that do not end");
        }
        record(new Line.Put(entry));
    }

    private static void requireApart(String subject, VmOwner owner, VmOwner other) throws ClaimRefused {
        if (other.uuid().equals(owner.uuid())
                || (other.ticket().equals(owner.ticket()) && other.slot() == owner.slot())) {
            throw new ClaimRefused(subject + "want a slot without a VM, have the VM " + other.uuid() + " of job "
                    + other.globalJob() + "; one step of a job calls once");
        }
        for (Part part : Part.values()) {
            if (part.nameOf(owner).equals(part.nameOf(other))) {
                throw new ClaimRefused(subject + "want names of its own, have " + part.nameOf(owner) + ", which VM "
                        + other.uuid() + " has; submit the job again, which makes a new ticket");
            }
        }
    }

    /**
     * Before a step is done.
     *
     * @return false if the VM is ending, or has: then nothing of it may be made any more
     */
    public synchronized boolean begin(String uuid, Step step) throws IOException {
        Entry entry = entries.get(uuid);
        if (entry == null || entry.isEnding()) {
            return false;
        }
        if (!step.isNextAfter(entry.step())) {
            throw new IllegalStateException("VM " + uuid + ": want what follows " + entry.step() + ", have " + step);
        }
        record(new Line.Put(entry.at(step)));
        return true;
    }

    /** @return false if it is ending already, or has: the first reason stays */
    public synchronized boolean end(String uuid, End end) throws IOException {
        Entry entry = entries.get(uuid);
        if (entry == null || entry.isEnding()) {
            return false;
        }
        record(new Line.Put(entry.ending(end)));
        return true;
    }

    /** A VM that was found without an entry. */
    synchronized void adopt(Entry entry) throws IOException {
        if (!entries.containsKey(entry.owner().uuid())) {
            record(new Line.Put(entry));
        }
    }

    /** A VM of which nothing is there any more, which was seen. */
    synchronized void forget(String uuid, long nowMs) throws IOException {
        if (entries.containsKey(uuid)) {
            record(new Line.Drop(uuid, nowMs));
        }
    }

    private void record(Line line) throws IOException {
        journal.append(line);
        apply(line);
        if (journal.lines() >= MAX_LINES) {
            try {
                journal.rewrite(lines());
            } catch (IOException e) {
                LOG.warn("the ledger is not written anew and grows on: {}", e.getMessage());
            }
        }
    }

    private void apply(Line line) {
        if (line instanceof Line.Put put) {
            entries.put(put.entry().owner().uuid(), put.entry());
        } else if (line instanceof Line.Burnt burnt) {
            burn(burnt.spent());
        } else if (line instanceof Line.Drop drop) {
            Entry gone = entries.remove(drop.uuid());
            if (gone != null) {
                burn(new Spent(gone.owner().ticket(), gone.owner().slot(), drop.atMs()));
            }
        }
    }

    private void burn(Spent each) {
        spent.remove(each.key());
        spent.put(each.key(), each);
        Set<String> old = new HashSet<>();
        for (Spent other : spent.values()) {
            if (other.endedMs() > each.endedMs() - Spent.KEPT_MS && spent.size() - old.size() <= MAX_SPENT) {
                break;
            }
            old.add(other.key());
        }
        old.forEach(spent::remove);
    }

    private List<Line> lines() {
        List<Line> lines = new ArrayList<>();
        spent.values().forEach(each -> lines.add(new Line.Burnt(each)));
        entries.values().forEach(each -> lines.add(new Line.Put(each)));
        return lines;
    }

    @Override
    public synchronized void close() throws IOException {
        journal.close();
    }
}
