package org.cloister.ctl.audit;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.audit.AuditLine;
import org.cloister.protocol.audit.AuditRecord;
import org.cloister.protocol.audit.SegmentLineReader;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code agentctl audit show}: prints records of a log that match filters. */
@Command(
        name = "show",
        description = "Prints records of an audit log, the newest that fit the filters. Verifies nothing.")
final class AuditShowCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private AuditLogFiles files;

    @Option(names = "--ticket", paramLabel = "ID", description = "Only records of this ticket.")
    private @Nullable String ticket;

    @Option(names = "--project", paramLabel = "ID", description = "Only records of this project.")
    private @Nullable String project;

    @Option(
            names = "--kind",
            paramLabel = "KIND",
            description = "Only records of this kind and of the kinds below it: ticket includes ticket.accepted.")
    private @Nullable String kind;

    @Option(
            names = "--last",
            paramLabel = "COUNT",
            description = "Maximum number of records, counted from the newest (default: ${DEFAULT-VALUE}).")
    private int last = 1000;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    private record RecordsOutput(Collection<AuditRecord> records) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            for (AuditRecord each : records) {
                List<String> facts = new ArrayList<>();
                each.facts().forEach((name, value) -> facts.add(name + "=" + value));
                each.key().ifPresent(key -> facts.add("key=" + key));
                table.row(
                        String.valueOf(each.number()),
                        each.time().toString(),
                        each.kind(),
                        facts.stream().collect(Collectors.joining(" ")));
            }
            return table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            ArrayNode list = document.putArray("records");
            for (AuditRecord each : records) {
                ObjectNode json = list.addObject()
                        .put("number", each.number())
                        .put("time", each.time().toString())
                        .put("kind", each.kind());
                if (each.event() > 0) {
                    json.put("event", each.event());
                }
                each.key().ifPresent(key -> json.put("key", key));
                ObjectNode facts = json.putObject("facts");
                for (Map.Entry<String, Object> fact : each.facts().entrySet()) {
                    if (fact.getValue() instanceof Long number) {
                        facts.put(fact.getKey(), number);
                    } else {
                        facts.put(fact.getKey(), fact.getValue().toString());
                    }
                }
            }
            return document;
        }
    }

    @Override
    public Integer call() throws IOException {
        Deque<AuditRecord> newest = new ArrayDeque<>();
        for (Path file : files.segments()) {
            long at = 0;
            try (SegmentLineReader lines = new SegmentLineReader(Files.newInputStream(file))) {
                // An incomplete line may be one that the relay is writing.
                for (var line = lines.next(); line.isPresent() && line.get().whole(); line = lines.next()) {
                    at++;
                    if (AuditLine.parse(line.get().bytes()) instanceof AuditRecord each && fits(each)) {
                        newest.add(each);
                        if (newest.size() > last) {
                            newest.remove();
                        }
                    }
                }
            } catch (MalformedException e) {
                throw new MalformedException(
                        file + ":" + at + ": " + e.getMessage() + "; agentctl audit verify says more", e);
            }
        }
        output.print(new RecordsOutput(newest));
        return ExitCode.OK.code();
    }

    private boolean fits(AuditRecord each) {
        return (ticket == null || ticket.equals(each.facts().get(AuditField.TICKET.member())))
                && (project == null || project.equals(each.facts().get(AuditField.PROJECT.member())))
                && (kind == null || each.kind().equals(kind) || each.kind().startsWith(kind + "."));
    }
}
