package org.cloister.ctl.image;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.TextTable;
import org.cloister.protocol.image.ImageLayer;
import org.cloister.protocol.image.ImageManifest;

/** Output of a manifest without its files' digests, which the identity covers. */
public record ImageSummary(ImageManifest manifest) implements CommandOutput {
    @Override
    public TextTable table() {
        TextTable table = new TextTable()
                .row("identity", manifest.identity().hex())
                .row("variant", manifest.variant())
                .row("version", manifest.version())
                .row("kernel", manifest.kernelRelease())
                .row("cmdline", manifest.commandLine());
        for (ImageLayer layer : manifest.layers()) {
            table.row("layer", layer.name() + " " + layer.rootHash().hex());
        }
        return table;
    }

    @Override
    public ObjectNode document() {
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("identity", manifest.identity().hex())
                .put("variant", manifest.variant())
                .put("version", manifest.version())
                .put("kernel", manifest.kernelRelease())
                .put("cmdline", manifest.commandLine());
        ArrayNode layers = document.putArray("layers");
        for (ImageLayer layer : manifest.layers()) {
            layers.addObject()
                    .put("name", layer.name())
                    .put("dataBlocks", layer.dataBlocks())
                    .put("rootHash", layer.rootHash().hex());
        }
        return document;
    }
}
