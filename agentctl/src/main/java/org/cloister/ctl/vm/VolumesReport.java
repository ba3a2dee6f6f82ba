package org.cloister.ctl.vm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Report of agent-vm about its VM's volumes, docs/image.md.
 *
 * @param volumes the volumes that the VM has or had, by name
 */
record VolumesReport(Map<String, Volume> volumes) {
    private static final String FILE = "/run/cloister/agent-vm.volumes";
    private static final int MAX_BYTES = 4096;
    private static final int VERSION = 1;
    private static final List<String> NAMES = List.of("scratch", "drive");
    private static final Pattern STATE = Pattern.compile("open|closed|erased|left");
    private static final Pattern MAPPING = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");
    private static final Pattern PATH = Pattern.compile("/[ -~]{0,255}");
    private static final Pattern CIPHER = Pattern.compile("[a-z0-9:()-]{1,64}");

    /**
     * Volume of the VM.
     *
     * @param at its present or former mount point
     * @param used bytes used; empty for a volume that is not open
     */
    record Volume(
            String state, Instant since, String mapping, String at, String cipher, long bytes, OptionalLong used) {
        private static Volume read(StrictJson json) throws MalformedException {
            Volume volume = new Volume(
                    json.text("state", STATE),
                    json.time("since"),
                    json.text("mapping", MAPPING),
                    json.text("at", PATH),
                    json.text("cipher", CIPHER),
                    json.number("bytes", 0, Long.MAX_VALUE),
                    json.has("used") ? OptionalLong.of(json.number("used", 0, Long.MAX_VALUE)) : OptionalLong.empty());
            json.requireNothingElse();
            return volume;
        }
    }

    static VolumesReport read(InspectedMachine machine) throws IOException {
        String text = machine.read(FILE)
                .orElseThrow(() -> new UndeterminedException(
                        FILE + ": no such file: agent-vm does not run here",
                        "ask in a VM of a project; there, systemctl status agent-vm"));
        try {
            return parse(text.getBytes(StandardCharsets.UTF_8));
        } catch (MalformedException e) {
            throw new UndeterminedException(
                    FILE + ": does not list volumes: " + e.getMessage(),
                    "install agent-vm and agentctl of one release",
                    e);
        }
    }

    static VolumesReport parse(byte[] bytes) throws MalformedException {
        StrictJson json = StrictJson.read(bytes, MAX_BYTES);
        json.number("v", VERSION, VERSION);
        Map<String, Volume> volumes = new LinkedHashMap<>();
        for (String name : NAMES) {
            if (json.has(name)) {
                volumes.put(name, Volume.read(json.object(name)));
            }
        }
        json.requireNothingElse();
        return new VolumesReport(volumes);
    }
}
