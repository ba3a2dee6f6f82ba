package org.cloister.ctl.receipt;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.receipt.HostStatement;
import org.cloister.protocol.receipt.Receipt;
import org.cloister.protocol.receipt.ReceiptSlot;
import org.cloister.protocol.receipt.ReceiptVerifier;
import org.cloister.protocol.receipt.WorkerStatement;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl receipt show}: prints the contents of a receipt. */
@Command(name = "show", description = "Prints a receipt without verifying it; see agentctl receipt verify.")
final class ReceiptShowCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", description = "The receipt.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private Path file;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        try {
            output.print(facts(ReceiptVerifier.read(Pem.readBounded(file, Receipt.MAX_ENVELOPE))));
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
        return ExitCode.OK.code();
    }

    private static KeyValueOutput facts(Receipt receipt) throws MalformedException {
        KeyValueOutput facts = new KeyValueOutput()
                .with("verified", "no")
                .with("project", receipt.project())
                .with("ticket", receipt.ticket())
                .with("digest", receipt.digest());
        receipt.globalJob().ifPresent(job -> facts.with("global job", job));
        facts.with("end", receipt.end()).with("ended", receipt.ended()).with("issued", receipt.issued());
        receipt.policy().ifPresent(hash -> facts.with("policy", hash));
        for (ReceiptSlot slot : receipt.slots()) {
            String subject = "slot " + slot.slot();
            facts.with(subject, slot.hostStatement().isPresent() ? host(slot) : "no statement of its host");
            if (slot.handOver().isPresent()) {
                facts.with(subject + " handed over", slot.handOver().get().time());
            }
            if (slot.workerStatement().isPresent()) {
                facts.with(subject + " worker", worker(slot));
            }
        }
        return facts;
    }

    private static String host(ReceiptSlot slot) throws MalformedException {
        HostStatement part = HostStatement.parse(
                DsseEnvelope.parse(slot.hostStatement().orElseThrow().bytes(), HostStatement.MAX_BYTES)
                        .unverifiedPayload());
        return "VM " + part.facts().vm() + ", image " + part.facts().image().abbreviated() + ", "
                + part.facts().shape() + ", sharing " + part.facts().sharing() + ", " + part.started() + " to "
                + part.ended() + " (" + part.end() + "), "
                + part.scratch().map(how -> "scratch " + how).orElse("scratch not known to be erased") + ", "
                + part.removed().map(time -> "removed " + time).orElse("not known to be removed");
    }

    private static String worker(ReceiptSlot slot) throws MalformedException {
        WorkerStatement part = WorkerStatement.parse(
                DsseEnvelope.parse(slot.workerStatement().orElseThrow().bytes(), WorkerStatement.MAX_BYTES)
                        .unverifiedPayload());
        return part.registered().map(time -> "registered " + time).orElse("never registered") + ", ended "
                + part.ended() + ", "
                + part.erased().map(time -> "erased " + time).orElse("not known to be erased");
    }
}
