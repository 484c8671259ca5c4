//! What quantisers write beside what matters: how they worked, and how kernels are to be picked.

/// Fields of a `quantization_config` that say nothing about sizes or speed.
pub(super) const FIELDS: &str = "
    act_data_type act_dynamic act_group_aware act_group_size act_sym activation_scheme amp
    autoround_version backend batch_size block_name_to_quantize cache_block_outputs
    checkpoint_format damp_percent dataset desc_act disable_exllama do_fuse enable_minmax_tuning
    enable_norm_bias_tuning enable_quanted_input exllama_config failsafe fmt fuse_max_seq_len
    gradient_accumulate_steps hyb_act is_marlin_format iters kv_cache_post_rope low_gpu_mem_usage lr
    max_input_length meta min_kv_scale minmax_lr model_file_base_name model_name_or_path
    model_seqlen module_name_preceding_first_block modules_to_fuse nsamples pack_dtype
    packed_modules_mapping packing_format pad_token_id producer quant_method quant_method_version
    quantizer scale_bits scale_dtype scale_fmt seqlen static_groups tokenizer true_sequential
    use_cuda_fp16 use_exllama version weight_dtype zero_point_dtype
";
