package org.cloister.ctl.audit;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.cloister.audit.AuditWitness;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.ctl.project.ProjectOption;
import org.cloister.protocol.audit.AuditFinding;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.audit.AuditLogVerifier;
import org.cloister.protocol.audit.AuditSegment;
import org.cloister.protocol.audit.AuditVerification;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.audit.WitnessedAuditHead;
import org.cloister.protocol.dsse.VerificationKey;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code agentctl audit verify}: verifies that a log is what its relay, or its project's VM, signed and its witnesses
 * saw.
 */
@Command(
        name = "verify",
        description = "Verifies an audit log and lists what was edited, dropped, swapped, inserted or "
                + "cut off. Also lists what it could not detect with the files that were given.")
final class AuditVerifyCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private AuditLogFiles files;

    @Option(
            names = "--relay",
            paramLabel = "FILE",
            description = "The relay's certificate or public key in PEM; may be given more than once, for a relay that "
                    + "changed its key.")
    private List<Path> relay = List.of();

    @Option(
            names = "--project",
            paramLabel = "FILE",
            description = "For a project's export log, which is a folder: the project's genesis, then its "
                    + "successor documents in order, each with this option. They decide which "
                    + "certificates in the folder are valid.")
    private List<Path> documents = List.of();

    @Option(
            names = "--head",
            paramLabel = "FILE",
            description = "Heads that a witness stored; may be given more than once.")
    private List<Path> heads = List.of();

    @Option(
            names = "--from",
            paramLabel = "NUMBER",
            description = "Number of the first record that must be present, if older segments are stored "
                    + "elsewhere (default: 1).")
    private long from = 1;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record VerificationOutput(AuditVerification verification) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            table.row("holds", verification.isValid() ? "yes" : "no");
            table.row("records", String.valueOf(verification.records()));
            verification
                    .newest()
                    .map(SignedAuditHead::head)
                    .ifPresent(head -> table.row("log", head.log() + " of " + head.relay())
                            .row(
                                    "newest head",
                                    "record " + head.count() + " at " + head.time() + ", hash " + head.hash()));
            for (AuditFinding finding : verification.findings()) {
                table.row("finding", name(finding), finding.toString());
            }
            verification.unseen().forEach(sentence -> table.row("unseen", sentence));
            return table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            document.put("holds", verification.isValid()).put("records", verification.records());
            verification.newest().map(SignedAuditHead::head).ifPresent(head -> write(document.putObject("head"), head));
            ArrayNode findings = document.putArray("findings");
            for (AuditFinding finding : verification.findings()) {
                findings.addObject()
                        .put("kind", name(finding))
                        .put("segment", finding.segment())
                        .put("record", finding.record())
                        .put("text", finding.text());
            }
            ArrayNode unseen = document.putArray("unseen");
            verification.unseen().forEach(unseen::add);
            return document;
        }

        private static void write(ObjectNode json, AuditHead head) {
            json.put("relay", head.relay())
                    .put("log", head.log())
                    .put("count", head.count())
                    .put("hash", head.hash().hex())
                    .put("time", head.time().toString());
        }

        private static String name(AuditFinding finding) {
            return finding.kind().name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    @Override
    public Integer call() throws IOException {
        List<AuditSegment> segments = new ArrayList<>();
        for (Path file : files.segments()) {
            segments.add(new AuditSegment(file.toString(), () -> Files.newInputStream(file)));
        }
        List<WitnessedAuditHead> witnessed = new ArrayList<>();
        for (Path file : heads) {
            List<WitnessedAuditHead> kept = AuditWitness.read(file);
            if (kept.isEmpty()) {
                throw new IOException(file + ": no heads of a witness: the file is missing or empty");
            }
            witnessed.addAll(kept);
        }
        AuditVerification verification = new AuditLogVerifier(signers(), from).verify(segments, witnessed);
        output.print(new VerificationOutput(verification));
        return (verification.isValid() ? ExitCode.OK : ExitCode.FAILURE).code();
    }

    private List<VerificationKey> signers() throws IOException {
        List<VerificationKey> keys = new ArrayList<>(AuditSignerKeys.ofRelay(relay));
        if (!documents.isEmpty()) {
            List<Path> chains = files.signers();
            if (chains.isEmpty()) {
                throw new IOException("certificates: no signer-KEY.pem beside the segments; give the whole folder of "
                        + "the project's export log");
            }
            keys.addAll(AuditSignerKeys.ofProject(ProjectOption.readHistory(documents), chains));
        }
        return keys;
    }
}
