package org.cloister.ctl.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Option {@code --output} of every command that prints data. */
public final class OutputOption {
    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            description = "Output format: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private OutputFormat format = OutputFormat.TABLE;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before use
    private CommandSpec command;

    public void print(CommandOutput answer) {
        PrintWriter out = command.commandLine().getOut();
        out.print(render(answer));
        out.flush();
    }

    private String render(CommandOutput answer) {
        return switch (format) {
            case TABLE -> answer.table().toString();
            case JSON ->
                write(
                                JsonMapper.builder()
                                        .enable(SerializationFeature.INDENT_OUTPUT)
                                        .build(),
                                answer) + "\n";
            case YAML ->
                write(
                        YAMLMapper.builder()
                                .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
                                .disable(YAMLGenerator.Feature.SPLIT_LINES)
                                .build(),
                        answer);
        };
    }

    private static String write(ObjectMapper mapper, CommandOutput answer) {
        try {
            return mapper.writeValueAsString(answer.document());
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of texts and numbers was not written", e);
        }
    }
}
