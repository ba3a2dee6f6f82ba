package org.cloister.ctl.vm;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** {@code agentctl vm volumes}: prints this VM's volumes. */
@Command(
        name = "volumes",
        description = "Prints the encrypted volumes of this VM (a worker's scratch, a controlling VM's "
                + "drive), how full each is, and whether it was erased.")
final class VmVolumesCommand implements Callable<Integer> {
    private static final double GIB = 1L << 30;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private VmCommand vm;

    private record Volumes(VolumesReport report) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            report.volumes()
                    .forEach((name, volume) -> table.row(
                            name,
                            volume.state(),
                            "since " + volume.since(),
                            volume.mapping() + " at " + volume.at(),
                            volume.cipher(),
                            size(volume)));
            return table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            ArrayNode volumes = document.putArray("volumes");
            report.volumes().forEach((name, volume) -> {
                ObjectNode entry = volumes.addObject()
                        .put("volume", name)
                        .put("state", volume.state())
                        .put("since", volume.since().toString())
                        .put("mapping", volume.mapping())
                        .put("at", volume.at())
                        .put("cipher", volume.cipher())
                        .put("bytes", volume.bytes());
                volume.used().ifPresent(used -> entry.put("used_bytes", used));
            });
            return document;
        }
    }

    private static String size(VolumesReport.Volume volume) {
        String whole = gib(volume.bytes());
        return volume.used().isPresent()
                ? gib(volume.used().getAsLong()) + " of " + whole + " GiB used"
                : whole + " GiB";
    }

    private static String gib(long bytes) {
        return String.format(Locale.ROOT, "%.1f", bytes / GIB);
    }

    @Override
    public Integer call() throws IOException {
        output.print(new Volumes(VolumesReport.read(vm.machine())));
        return ExitCode.OK.code();
    }
}
